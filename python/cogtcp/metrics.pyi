from cogtcp.model.metrics import *
