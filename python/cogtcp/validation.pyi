from cogtcp.kernel.validation import *
