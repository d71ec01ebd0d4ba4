from cogtcp.data.spectrum import *
