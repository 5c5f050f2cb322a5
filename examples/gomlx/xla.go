//go:build xla

package main

import _ "github.com/gomlx/go-xla/compute/xla" // GOMLX_BACKEND can name it
