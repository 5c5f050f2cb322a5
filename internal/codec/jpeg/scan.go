package jpeg

import "slices"

// A scan is one pass of entropy code over some components. Source: section B.2.3 of
// the standard.
type scan struct {
	components []int // in the order of the scan
	order      [4]int
	dc, ac     [4]*huffman // by index in the scan
	from, to   int         // spectral selection
	high, low  uint        // successive approximation: previous and present point transform
	predicted  [4]int32    // the last DC coefficients, by index in the scan
	run        int         // how many more blocks have no further coefficients
	place      *[256]uint8 // of coefficients in stored blocks, if progressive
	again      bool        // an earlier scan had coefficients of some of the components
	reader     reader
}

// readScanHeader reads the scan header at offset at. It returns the offset of the
// entropy code.
func (d *Decoder) readScanHeader(at int) (int, error) {
	segment, err := d.segment(at)
	if err != nil {
		return 0, err
	}
	s := &d.scan
	if len(segment) == 0 {
		return 0, corrupt(at, "scan header of 0 bytes")
	}
	n := int(segment[0])
	if n < 1 || n > len(d.components) || len(segment) != 4+2*n {
		return 0, corrupt(at, "scan header of %d bytes for %d components", len(segment), n)
	}
	s.components = s.order[:0]
	blocks := 0
	spec := segment[1+2*n:]
	s.from, s.to = int(spec[0]), int(spec[1])
	s.high, s.low = uint(spec[2]>>4), uint(spec[2]&15)
	for i := range n {
		id, tables := segment[1+2*i], segment[2+2*i]
		ci, err := d.find(at, i, id)
		if err != nil {
			return 0, err
		}
		s.components = append(s.components, ci)
		c := &d.components[ci]
		blocks += c.h * c.v
		if err := d.chooseTables(at, i, tables); err != nil {
			return 0, err
		}
		if !c.latched {
			if c.table > 3 || !d.hasQuant[c.table] {
				return 0, corrupt(at, "quantisation table %d is missing", c.table)
			}
			c.quant, c.latched = d.quant[c.table], true
		}
	}
	if n > 1 && blocks > 10 {
		return 0, corrupt(at, "MCU of %d blocks", blocks)
	}
	if d.config.Progressive {
		if err := d.checkProgress(at); err != nil {
			return 0, err
		}
	}
	return at + 2 + len(segment), nil
}

// find returns the index of the component with this id, which is the scan's i-th.
// As in libjpeg-turbo, it looks only from the frame's i-th component on, so most
// scans in another order than the frame's are errors.
func (d *Decoder) find(at, i int, id uint8) (int, error) {
	for ci := i; ci < len(d.components); ci++ {
		if d.components[ci].id == id && !slices.Contains(d.scan.components, ci) {
			return ci, nil
		} else if d.components[ci].id == id {
			break
		}
	}
	return 0, corrupt(at, "scan of component %d, which the frame does not have or has in another order", id)
}

// chooseTables sets the Huffman tables that the scan uses for its i-th component. In
// sequential files, missing tables are those of the standard, as motion JPEG needs.
func (d *Decoder) chooseTables(at, i int, tables uint8) error {
	s, progressive := &d.scan, d.config.Progressive
	if !progressive || s.from == 0 && s.high == 0 {
		id := tables >> 4
		if id < 2 && !d.hasDC[id] && !progressive {
			d.setHuffman(true, id, &standardDC[id].count, standardDC[id].symbol)
		}
		if id > 3 || !d.hasDC[id] {
			return corrupt(at, "DC Huffman table %d is missing", id)
		}
		s.dc[i] = &d.tables[id]
		if wrong := s.dc[i].wrong; wrong != "" {
			return corrupt(at, "DC Huffman table %d: %s", id, wrong)
		}
	}
	if !progressive || s.from > 0 {
		id := tables & 15
		if id < 2 && !d.hasAC[id] && !progressive {
			d.setHuffman(false, id, &standardAC[id].count, standardAC[id].symbol)
		}
		if id > 3 || !d.hasAC[id] {
			return corrupt(at, "AC Huffman table %d is missing", id)
		}
		s.ac[i] = &d.tables[4+id]
		if wrong := s.ac[i].wrong; wrong != "" {
			return corrupt(at, "AC Huffman table %d: %s", id, wrong)
		}
	}
	return nil
}

// start prepares the scan's tables, and the reader for the stream's first interval.
func (d *Decoder) start() {
	d.stretch.mcus = 0
	switch {
	case !d.config.Progressive:
		d.scan.again = false
		for i, ci := range d.scan.components {
			d.scan.again = d.scan.again || d.components[ci].progress[0] >= 0
			d.scan.dc[i].pairs.build(d.scan.dc[i])
			d.scan.ac[i].pairs.build(d.scan.ac[i])
		}
		d.stretch.open(d)
	case d.scan.from > 0:
		d.openAC()
	case d.scan.high == 0:
		for i := range d.scan.components {
			d.scan.dc[i].pairs.build(d.scan.dc[i])
		}
	}
	d.stream.next = 0
	d.restart()
}

// restart prepares the reader for the stream's next interval. After the last one
// that is an empty interval.
func (d *Decoder) restart() {
	s, st := &d.scan, &d.stream
	begin := 0
	if st.next > 0 {
		begin = st.ends[min(st.next, len(st.ends))-1]
	}
	end := st.ends[min(st.next, len(st.ends)-1)]
	s.reader = reader{bytes: st.bytes, at: begin, end: end}
	s.predicted = [4]int32{}
	s.run = 0
	st.next++
	st.remaining = d.interval
	if d.interval == 0 {
		st.remaining = -1
	}
}

// between is called before every MCU. It goes to the next interval if all MCUs of
// the current one have been read.
func (d *Decoder) between() error {
	st := &d.stream
	if st.remaining != 0 {
		st.remaining--
		return nil
	}
	if i := st.next - 1; i < len(st.restarts) {
		if want := uint8(markerRST0 + i%8); st.restarts[i] != want {
			return corrupt(st.offset(d.data, st.ends[i]), "restart marker %#x, want %#x", st.restarts[i], want)
		}
	} else if !(st.cut && d.AllowTruncated) {
		return d.cutShort()
	}
	d.restart()
	st.remaining--
	return nil
}

// cutShort is the error of a stream that holds fewer MCUs than the image. The end of the
// file cuts its last interval only: an earlier one that is too short is damage.
func (d *Decoder) cutShort() error {
	st := &d.stream
	if st.cut && st.next >= len(st.ends) {
		return truncated(len(d.data), "entropy code")
	}
	at := st.offset(d.data, st.ends[min(st.next, len(st.ends))-1])
	return corrupt(at, "entropy code ends before the image")
}

// broken is the error of a stream with an invalid code.
func (d *Decoder) broken() error {
	r := &d.scan.reader
	at := max(0, r.at-int(r.n)/8)
	return corrupt(d.stream.offset(d.data, at), "corrupt entropy code")
}
