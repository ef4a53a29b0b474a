// The one place that knows kc's version.
#ifndef KC_COMPILER_VERSION_H
#define KC_COMPILER_VERSION_H

#define KC_VERSION "0.1.0"

#endif
