# SPDX-License-Identifier: MIT
"""The active driver, as triton.runtime.driver holds it. The default one stands for a machine without a GPU."""


class DriverConfig:
    def __init__(self):
        self.default = self.active = None

    def set_active(self, driver):
        self.active = driver

    def reset_active(self):
        self.active = self.default


driver = DriverConfig()
