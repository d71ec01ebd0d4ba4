from cogtcp.running.runner import *
