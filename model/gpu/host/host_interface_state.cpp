// SPDX-License-Identifier: MIT
// The host interface's state in a state image.
#include "heddle/config/error.h"
#include "heddle/gpu/host/host_interface.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

void host_interface::exchange(state_image& image) {
  invariant(rests() || image.reading(), "a checkpoint while the host interface is busy");
  image.part(name());
  image.same(launches_, "launches");
  image(modules_, memory_, launch_builder_, heap_, heap_base_, context_area_, printed_, completed_, completion_queue_,
        result_, error_, message_, interrupt_enable_, interrupt_pending_, map_base_, map_bytes_);
  if (!image.reading()) return;
  for (const grid_record& g : cwd_->grids())
    if (g.finished) blocks_.forget(g.launch->launch_id);
}

}  // namespace heddle
