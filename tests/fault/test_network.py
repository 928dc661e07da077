"""Connections that are cut, that stop in the middle of a message, or that are slow: before a standalone.
needs: none"""
import faultlab
import livetest
from faultnetwork import Network


class Standalone(Network, faultlab.Lab):
    pass


if __name__ == "__main__":
    livetest.main()
