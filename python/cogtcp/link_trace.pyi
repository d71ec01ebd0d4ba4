from cogtcp.data.link_trace import *
