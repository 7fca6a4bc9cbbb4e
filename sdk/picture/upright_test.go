package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// exif is Exif data with an orientation, behind another field.
func exif(order binary.AppendByteOrder, turn uint16) []byte {
	b := []byte("II")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM")
	}
	b = order.AppendUint32(order.AppendUint16(b, 42), 8)
	b = order.AppendUint16(b, 2)
	for _, field := range [][2]uint16{{0x0103, 6}, {0x0112, turn}} {
		b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, field[0]), 3), 1)
		b = append(order.AppendUint16(b, field[1]), 0, 0)
	}
	return order.AppendUint32(b, 0)
}

// turned is a JPEG with Exif data.
func turned(data, exif []byte) []byte {
	segment := append([]byte("Exif\x00\x00"), exif...)
	out := append([]byte{}, data[:2]...)
	out = append(out, 0xff, 0xe0, 0, 4, 1, 2) // another one before
	out = append(binary.BigEndian.AppendUint16(append(out, 0xff, 0xe1), uint16(len(segment)+2)), segment...)
	return append(out, data[2:]...)
}

// turnedPNG is a PNG with Exif data.
func turnedPNG(data, exif []byte) []byte {
	chunk := append([]byte("eXIf"), exif...)
	out := binary.BigEndian.AppendUint32(append([]byte{}, data[:33]...), uint32(len(exif))) // behind IHDR
	out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	return append(out, data[33:]...)
}

// corners is a picture of 600 by 200 pixels with a red quarter where it begins, and a green one at the end of its first row.
func corners() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 600, 200))
	for y := range 200 {
		for x := range 600 {
			c := color.RGBA{0, 0, 0xff, 0xff}
			switch {
			case y < 100 && x < 300:
				c = color.RGBA{0xff, 0, 0, 0xff}
			case y < 100:
				c = color.RGBA{0, 0xff, 0, 0xff}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

// TestFitStaysUpright: what a camera says of how it was held counts when a photograph is made smaller.
func TestFitStaysUpright(t *testing.T) {
	plain := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, corners(), nil) })
	for turn, want := range map[uint16]string{ // the corners: above left, above right, below left, below right
		0: "rgbb", 1: "rgbb", 2: "grbb", 3: "bbgr", 4: "bbrg", 5: "rbgb", 6: "brbg", 7: "bgbr", 8: "gbrb", 9: "rgbb",
	} {
		for name, data := range map[string][]byte{
			"little": turned(plain, exif(binary.LittleEndian, turn)), "big": turned(plain, exif(binary.BigEndian, turn)),
			"PNG": turnedPNG(asPNG(t, corners()), exif(binary.BigEndian, turn)),
		} {
			if name == "PNG" {
				data = append(data, make([]byte, 8<<10)...) // behind its end, so that it does not fit
			}
			m, err := Fit(data, len(data))
			if err != nil || m.MIMEType != "image/jpeg" {
				t.Fatalf("%d, %s: %s, %v", turn, name, m, err)
			}
			small, _ := base64.StdEncoding.DecodeString(m.Data)
			seen, err := jpeg.Decode(bytes.NewReader(small))
			if err != nil {
				t.Fatal(err)
			}
			got, b := "", seen.Bounds()
			for _, at := range []image.Point{{b.Dx() / 8, b.Dy() / 8}, {b.Dx() * 7 / 8, b.Dy() / 8}, {b.Dx() / 8, b.Dy() * 7 / 8}, {b.Dx() * 7 / 8, b.Dy() * 7 / 8}} {
				switch r, g, _, _ := seen.At(at.X, at.Y).RGBA(); {
				case r > 0x8000:
					got += "r"
				case g > 0x8000:
					got += "g"
				default:
					got += "b"
				}
			}
			if got != want || (b.Dx() < b.Dy()) != (turn >= 5 && turn <= 8) {
				t.Errorf("%d, %s: %s of %v, want %s", turn, name, got, b, want)
			}
		}
	}
}

// FuzzOrientation: whatever the bytes are, there is a turn.
func FuzzOrientation(f *testing.F) {
	small := encoded(f, func(b *bytes.Buffer) error { return jpeg.Encode(b, noise(2, 2), nil) })
	f.Add(turned(small, exif(binary.LittleEndian, 6)))
	f.Add(turnedPNG(asPNG(f, noise(2, 2)), exif(binary.BigEndian, 8)))
	f.Add([]byte("\xff\xd8\xff\xff\xff\xe1\x00\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		turn := orientation(data)
		if turn < asItIs || turn > lastTurn {
			t.Errorf("it is turned by %d", turn)
		}
		m := image.NewRGBA(image.Rect(0, 0, 3, 2))
		m.Pix[0] = 1
		to := upright(m, turn)
		if to.Rect.Dx()*to.Rect.Dy() != 6 || bytes.Count(to.Pix, []byte{1}) != 1 {
			t.Errorf("turned by %d it is %v", turn, to)
		}
	})
}
