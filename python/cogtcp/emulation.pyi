from cogtcp.kernel.emulation import *
