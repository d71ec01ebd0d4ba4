from cogtcp.data.mobility import *
