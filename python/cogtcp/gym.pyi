from cogtcp.deciding.gym import *
