"""The kernel plane, and the simulator judged by Linux, other simulators and theory."""
