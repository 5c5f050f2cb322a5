module github.com/penstock-go/penstock/examples/onnx

go 1.26.0

require (
	github.com/penstock-go/penstock v0.0.0
	github.com/yalue/onnxruntime_go v1.36.0
	google.golang.org/protobuf v1.36.11
)

require (
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/penstock-go/penstock => ../..
