from cogtcp.model.statistics import *
