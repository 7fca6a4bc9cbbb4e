package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// A camera keeps a photograph as its sensor lies, and says in the file how it is to be turned (Exif 2.32, tag
// 0x0112). What is made of the pixels has no such word, so they are turned.

// asItIs is the orientation of a picture that needs no turn: the least and the most that there are.
const (
	asItIs   = 1
	lastTurn = 8
)

// orientation is what the Exif data of a JPEG or PNG says; asItIs where it says nothing that can be read.
func orientation(data []byte) int {
	var exif []byte
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8")):
		exif = exifOfJPEG(data[2:])
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		exif = exifOfPNG(data[8:])
	}
	if turn := turnOf(exif); turn >= asItIs && turn <= lastTurn {
		return turn
	}
	return asItIs
}

// exifOfJPEG finds the segment that has it among those before the pixels.
func exifOfJPEG(data []byte) []byte {
	for len(data) >= 4 && data[0] == 0xff {
		kind, size := data[1], int(binary.BigEndian.Uint16(data[2:]))
		switch {
		case kind == 0xff: // it fills
			data = data[1:]
			continue
		case kind == 0xda, kind == 0xd9, size < 2, size > len(data)-2:
			return nil
		}
		if exif, is := bytes.CutPrefix(data[4:2+size], []byte("Exif\x00\x00")); is && kind == 0xe1 {
			return exif
		}
		data = data[2+size:]
	}
	return nil
}

// exifOfPNG finds the chunk that has it.
func exifOfPNG(data []byte) []byte {
	for len(data) >= 12 {
		size := int(binary.BigEndian.Uint32(data))
		if size > len(data)-12 {
			return nil
		}
		if string(data[4:8]) == "eXIf" {
			return data[8 : 8+size]
		}
		data = data[12+size:]
	}
	return nil
}

// turnOf reads the orientation of Exif data, which is a TIFF; 0 is none.
func turnOf(tiff []byte) int {
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	if begin := string(tiff[:2]); begin != "II" && begin != "MM" || order.Uint16(tiff[2:]) != 42 {
		return 0
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	fields := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(fields) < 12 {
			return 0
		}
		const tag, short = 0x0112, 3
		if order.Uint16(fields) == tag && order.Uint16(fields[2:]) == short {
			return int(order.Uint16(fields[8:]))
		}
		fields = fields[12:]
	}
	return 0
}

// upright turns a picture as its orientation says.
func upright(from *image.RGBA, turn int) *image.RGBA {
	if turn == asItIs {
		return from
	}
	w, h := from.Rect.Dx(), from.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if turn >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	to := image.NewRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			var sx, sy int
			switch turn {
			case 2:
				sx, sy = w-1-x, y
			case 3:
				sx, sy = w-1-x, h-1-y
			case 4:
				sx, sy = x, h-1-y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, h-1-x
			case 7:
				sx, sy = w-1-y, h-1-x
			case 8:
				sx, sy = w-1-y, x
			}
			to.SetRGBA(x, y, from.RGBAAt(sx, sy))
		}
	}
	return to
}
