package hostile

// Slowdown and Processor are slowdown and processor.
const Slowdown = slowdown

var Processor = processor
