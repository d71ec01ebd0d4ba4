from cogtcp.data.fitting import *
