from cogtcp.data.journey import *
