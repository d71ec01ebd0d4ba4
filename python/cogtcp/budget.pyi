from cogtcp.model.budget import *
