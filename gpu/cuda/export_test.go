package cuda

var Entries = entries
