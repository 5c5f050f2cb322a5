package cuda

var (
	Entries      = entries
	CheckKernels = checkKernels
)
