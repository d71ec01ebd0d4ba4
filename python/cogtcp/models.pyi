from cogtcp.model.models import *
