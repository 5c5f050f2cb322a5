package jpeg

// ZigZag returns the index, row by row, of the k-th coefficient of 8×8 in the stream. Source:
// section A.3.6 of the standard (ITU-T T.81).
func ZigZag() (order [64]uint8) {
	x, y, up := 0, 0, true
	for k := range order {
		order[k] = uint8(8*y + x)
		switch {
		case up && x == 7:
			y, up = y+1, false
		case up && y == 0:
			x, up = x+1, false
		case up:
			x, y = x+1, y-1
		case y == 7:
			x, up = x+1, true
		case x == 0:
			y, up = y+1, true
		default:
			x, y = x-1, y+1
		}
	}
	return order
}
