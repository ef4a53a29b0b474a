#!/bin/sh
# Every message of the frontend stands in a golden.
exec /usr/bin/python3 tests/run/frontend_messages.py
