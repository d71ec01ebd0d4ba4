from cogtcp.model.control import *
