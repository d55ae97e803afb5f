// SPDX-License-Identifier: MIT
#include "json_text.h"

HEDDLE_PARSERS(, nlohmann::json);
HEDDLE_PARSERS(, nlohmann::ordered_json);
