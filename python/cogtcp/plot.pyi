from cogtcp.showing.plot import *
