//go:build pin

// Package pin keeps mongoimport in go.mod; it is built from there by tools/bench.
package pin

import _ "github.com/mongodb/mongo-tools/mongoimport"
