module github.com/penstock-go/penstock/dataset/shards/parquet

go 1.26.0

require (
	github.com/andybalholm/brotli v1.2.3
	github.com/klauspost/compress v1.20.3
	github.com/parquet-go/bitpack v1.0.0
	github.com/parquet-go/parquet-go v0.32.0
	github.com/penstock-go/penstock v0.0.0
	github.com/pierrec/lz4/v4 v4.1.29
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
)

require (
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)

replace github.com/penstock-go/penstock => ../../../
