module github.com/penstock-go/penstock/gpu

go 1.26.0

require (
	github.com/ebitengine/purego v0.11.3
	github.com/penstock-go/penstock v0.0.0
	go.uber.org/goleak v1.3.0
	golang.org/x/sync v0.24.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/penstock-go/penstock => ../
