from cogtcp.model.airtime import *
