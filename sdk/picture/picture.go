// Package picture looks at the pictures that go with prompts, and makes one small enough for that.
package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/bothyd/bothy/sdk"
)

// kinds are what every model's server takes.
var kinds = []struct {
	mime, magic string
	config      func([]byte) (image.Config, error)
	decode      func([]byte) (image.Image, error) // nil: it is not made smaller
}{
	{"image/png", "\x89PNG\r\n\x1a\n", by(png.DecodeConfig), by(png.Decode)},
	{"image/jpeg", "\xff\xd8\xff", by(jpeg.DecodeConfig), by(jpeg.Decode)},
	{"image/gif", "GIF8", by(gif.DecodeConfig), by(gif.Decode)},
	{"image/webp", "RIFF", webp, nil},
}

// Begin is how many bytes of a file tell whether Looks like one.
const Begin = 12

// Looks reports whether a file that begins like this may be a picture.
func Looks(begin []byte) bool {
	for _, k := range kinds {
		if bytes.HasPrefix(begin, []byte(k.magic)) {
			return k.decode != nil || len(begin) >= Begin && string(begin[8:Begin]) == "WEBP"
		}
	}
	return false
}

// Of is a picture as a prompt has it: PNG, JPEG, GIF or WebP, by its bytes and not by what
// anybody says that it is. Another file, and one whose size in pixels cannot be read, is an
// *sdk.Error of outcome validation that begins with a verb.
func Of(data []byte) (sdk.Medium, error) {
	if Looks(data) {
		for _, k := range kinds {
			if !bytes.HasPrefix(data, []byte(k.magic)) {
				continue
			}
			if c, err := k.config(data); err == nil && c.Width > 0 && c.Height > 0 {
				return sdk.Medium{
					Kind: sdk.MediumImage, MIMEType: k.mime, Bytes: len(data), Width: c.Width, Height: c.Height,
					Data: base64.StdEncoding.EncodeToString(data),
				}, nil
			}
		}
	}
	return sdk.Medium{}, sdk.Errorf(sdk.Validation, "is no picture that can be read: a prompt takes PNG, JPEG, GIF and WebP")
}

// Bounds of what is made smaller. Servers make smaller themselves what has a longer side.
const (
	mostPixels = 64 << 20
	longSide   = 2000
	quality    = 85
)

// Fit is Of, for a picture whose data has at most so many bytes, in base64: one that is larger is
// made smaller, as a JPEG, which loses what moves and what can be seen through. A photograph stays upright.
func Fit(data []byte, most int) (sdk.Medium, error) {
	m, err := Of(data)
	most = min(most, sdk.MaxMedium)
	if err != nil || len(m.Data) <= most && m.Width <= sdk.MaxSide && m.Height <= sdk.MaxSide {
		return m, err
	}
	for _, k := range kinds {
		if k.mime != m.MIMEType || k.decode == nil || m.Width*m.Height > mostPixels {
			continue
		}
		full, err := k.decode(data)
		if err != nil {
			break
		}
		turn := orientation(data)
		for side := longSide; side >= 100; side = side * 2 / 3 {
			var out bytes.Buffer
			if err := jpeg.Encode(&out, upright(smaller(full, side), turn), &jpeg.Options{Quality: quality}); err != nil {
				break
			}
			if base64.StdEncoding.EncodedLen(out.Len()) <= most {
				return Of(out.Bytes())
			}
		}
	}
	return sdk.Medium{}, sdk.Errorf(sdk.Validation, "is too large for a prompt, and could not be made smaller: %d by %d pixels, %d KiB", m.Width, m.Height, m.Bytes>>10)
}

// leastRoom is what the images of a prompt have at least, however long its text is.
const leastRoom = 512 << 10

// Given are pictures as a client gives them along with a prompt of so many bytes, in one message
// to the daemon: each is made smaller where that has to be. The error says which cannot be given.
func Given(pictures [][]byte, text int) (media []sdk.Medium, err error) {
	if len(pictures) > sdk.MaxMedia {
		return nil, sdk.Errorf(sdk.Validation, "the prompt has %d images, and takes %d", len(pictures), sdk.MaxMedia)
	}
	for i, data := range pictures {
		m, err := Fit(data, max(sdk.MaxGivenBytes-text, leastRoom)/len(pictures))
		if err != nil {
			return nil, sdk.Errorf(sdk.Validation, "image %d %w", i+1, err)
		}
		media = append(media, m)
	}
	return media, nil
}

// smaller is a picture on white whose longer side has about so many pixels at most: each is the
// mean of a square of the other's.
func smaller(from image.Image, side int) *image.RGBA {
	b := from.Bounds()
	n := max((max(b.Dx(), b.Dy())+side-1)/side, 1)
	to := image.NewRGBA(image.Rect(0, 0, max(b.Dx()/n, 1), max(b.Dy()/n, 1)))
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			to.SetRGBA(x, y, mean(from, image.Rect(b.Min.X+x*n, b.Min.Y+y*n, b.Min.X+(x+1)*n, b.Min.Y+(y+1)*n).Intersect(b)))
		}
	}
	return to
}

func mean(of image.Image, in image.Rectangle) color.RGBA {
	var r, g, b, n uint64
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			cr, cg, cb, ca := of.At(x, y).RGBA() // premultiplied
			white := uint64(0xffff - ca)
			r, g, b, n = r+uint64(cr)+white, g+uint64(cg)+white, b+uint64(cb)+white, n+1
		}
	}
	n = max(n, 1)
	return color.RGBA{uint8(r / n >> 8), uint8(g / n >> 8), uint8(b / n >> 8), 0xff}
}

// by is a decoder of a reader as one of bytes.
func by[T any](decode func(io.Reader) (T, error)) func([]byte) (T, error) {
	return func(data []byte) (T, error) { return decode(bytes.NewReader(data)) }
}

// webp reads the size of a WebP: of its first chunk, which is one of three kinds.
func webp(data []byte) (c image.Config, err error) {
	if len(data) < 30 {
		return c, errShort
	}
	at := data[20:]
	switch kind := string(data[12:16]); {
	case kind == "VP8 " && bytes.Equal(at[3:6], []byte{0x9d, 0x01, 0x2a}):
		c.Width, c.Height = int(binary.LittleEndian.Uint16(at[6:])&0x3fff), int(binary.LittleEndian.Uint16(at[8:])&0x3fff)
	case kind == "VP8L" && at[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(at[1:])
		c.Width, c.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case kind == "VP8X":
		c.Width, c.Height = int(three(at[4:]))+1, int(three(at[7:]))+1
	default:
		return c, errShort
	}
	return c, nil
}

func three(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

var errShort = sdk.Errorf(sdk.Validation, "has no size")
