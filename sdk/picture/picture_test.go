package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// noise is a picture that no format makes small.
func noise(width, height int) image.Image {
	random := rand.New(rand.NewPCG(1, 2))
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = byte(random.Uint32())
	}
	return m
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(t testing.TB, m image.Image) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOf(t *testing.T) {
	small := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.White, color.Black})
	const riff = "524946461e00000057454250"
	for name, c := range map[string]struct {
		data []byte
		want string // empty is none
	}{
		"PNG":           {asPNG(t, small), "image/png of 3 by 2 pixels"},
		"JPEG":          {encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, small, nil) }), "image/jpeg of 3 by 2 pixels"},
		"GIF":           {encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, small, nil) }), "image/gif of 3 by 2 pixels"},
		"WebP":          {unhex(t, riff+"56503820"+"12000000"+"300100"+"9d012a"+"20034002"+"0000"), "image/webp of 800 by 576 pixels"},
		"lossless WebP": {unhex(t, riff+"5650384c"+"0a000000"+"2f1fc38f00"+"0000000000"), "image/webp of 800 by 576 pixels"},
		"extended WebP": {unhex(t, riff+"56503858"+"0a000000"+"00000000"+"1f0300"+"570200"), "image/webp of 800 by 600 pixels"},
		"a wrong chunk": {unhex(t, riff+"56503859"+"0a000000"+"00000000"+"1f0300"+"570200"), ""},
		"a sound":       {append([]byte("RIFF\x00\x00\x00\x00WAVE"), make([]byte, 40)...), ""},
		"a text":        {[]byte("hello there, how are you"), ""},
		"the begin":     {asPNG(t, small)[:20], ""},
		"nothing":       {nil, ""},
	} {
		m, err := Of(c.data)
		got := ""
		if err == nil {
			got = m.String()
			if data, err := base64.StdEncoding.DecodeString(m.Data); err != nil || !bytes.Equal(data, c.data) || m.Bytes != len(data) || m.Kind != sdk.MediumImage {
				t.Errorf("%s: %+v, %v", name, m.Brief(), err)
			}
		} else if sdk.OutcomeOf(err) != sdk.Validation {
			t.Errorf("%s: %v", name, err)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, got, c.want, err)
		}
	}
}

// TestFit: what fits stays to the byte, and what does not is made smaller until it does.
func TestFit(t *testing.T) {
	large := asPNG(t, noise(900, 300))
	whole, err := Fit(large, len(large)*2)
	if err != nil || whole.MIMEType != "image/png" || whole.Bytes != len(large) {
		t.Errorf("%s, %v", whole, err)
	}
	for _, most := range []int{400 << 10, 40 << 10} {
		m, err := Fit(large, most)
		if err != nil || m.MIMEType != "image/jpeg" || len(m.Data) > most || m.Width < m.Height*2 || m.Width > m.Height*4 {
			t.Errorf("to %d: %s of %d, %v", most, m, len(m.Data), err)
		}
	}
	wide := asPNG(t, image.NewGray(image.Rect(0, 0, sdk.MaxSide+1, 2)))
	if m, err := Fit(wide, sdk.MaxMedium); err != nil || m.Width > sdk.MaxSide || m.Height < 1 {
		t.Errorf("wide: %s, %v", m, err)
	}
	if m, err := Fit(large, 100); sdk.OutcomeOf(err) != sdk.Validation || err == nil {
		t.Errorf("to nothing: %s, %v", m, err)
	}
	clear := asPNG(t, image.NewNRGBA(image.Rect(0, 0, sdk.MaxSide+1, 20))) // nothing but what is seen through
	m, err := Fit(clear, sdk.MaxMedium)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := base64.StdEncoding.DecodeString(m.Data)
	seen, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if r, _, _, _ := seen.At(1, 1).RGBA(); r < 0xf000 {
		t.Errorf("what can be seen through is not white: %x", r)
	}
}

// TestGiven: all of a prompt go in one message, and the error says which does not.
func TestGiven(t *testing.T) {
	large := asPNG(t, noise(700, 500))
	media, err := Given([][]byte{large, large, large}, 1<<20)
	if err != nil || len(media) != 3 {
		t.Fatal(len(media), err)
	}
	sum := 1 << 20
	for _, m := range media {
		sum += len(m.Data)
	}
	if sum > sdk.MaxGivenBytes {
		t.Errorf("they have %d bytes", sum)
	}
	if _, err := Given([][]byte{large, []byte("a text")}, 0); err == nil || err.Error()[:7] != "image 2" {
		t.Errorf("%v", err)
	}
	if _, err := Given(make([][]byte, sdk.MaxMedia+1), 0); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("%v", err)
	}
}

// FuzzOf: whatever the bytes are, what is taken for a picture has a size, and looks like one.
func FuzzOf(f *testing.F) {
	f.Add(asPNG(f, noise(2, 2)))
	f.Add(unhex(f, "524946461e00000057454250"+"56503858"+"0a000000"+"00000000"+"1f0300"+"570200"))
	f.Add([]byte("GIF89a"))
	f.Add([]byte("\xff\xd8\xff\xe0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Of(data)
		if err == nil && (!Looks(data[:min(len(data), Begin)]) || m.Width <= 0 || m.Height <= 0) {
			t.Errorf("%+v", m.Brief())
		}
	})
}
