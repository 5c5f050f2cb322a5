// Package bench measures the loader as a whole, on files: what its users get, in
// images per second and in milliseconds to the first batch.
//
//	go test -bench . ./bench/...                       # from the project's root
//	go test -bench . ./bench/... -photos DIR           # on your own photos
//
// Sides that are compared take turns within one benchmark, so that a machine
// whose speed drifts treats them alike; what is reported is the median.
package bench
