package sdk

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Medium is what is no text of a prompt or of a tool's result. A result has its own in the
// metadata under "media"; a prompt takes images alone.
type Medium struct {
	Kind     string `json:"kind"` // image, audio, resource; empty is an image in a prompt that is given
	MIMEType string `json:"mime_type,omitempty"`
	// URI is where it comes from, if that has a name. Of what a prompt was given it is the path
	// of the entry whose body is Data.
	URI    string `json:"uri,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
	Width  int    `json:"width,omitempty"` // of an image, in pixels; 0 is unknown
	Height int    `json:"height,omitempty"`
	Data   string `json:"data,omitempty"` // base64 (RFC 4648, section 4); empty where it is too large, or stands elsewhere
}

// MediumImage is the Kind of a picture, and the word for it in Model.Inputs.
const MediumImage = "image"

// Bounds of the media of one prompt, and of one request to a model. Data is counted as it
// stands there, in base64.
const (
	MaxMedia      = 20      // how many
	MaxMedium     = 5 << 20 // bytes of one; what the strictest server takes
	MaxMediaBytes = 8 << 20 // bytes of all, so that a request fits in a message to a plugin
	MaxGivenBytes = 3 << 20 // bytes of those that a client sends along with a prompt, which have to fit in its one message
	MaxSide       = 8000    // pixels of an image, across and down
)

// CheckMedia holds the media of one prompt to these bounds.
func CheckMedia(all []Medium) error {
	if len(all) > MaxMedia {
		return Errorf(Validation, "the prompt has %d images, and takes %d", len(all), MaxMedia)
	}
	sum := 0
	for i, m := range all {
		sum += len(m.Data)
		if len(m.Data) > MaxMedium || m.Width > MaxSide || m.Height > MaxSide {
			return Errorf(Overflow, "image %d of the prompt has %d by %d pixels and %d KiB: make it smaller, %d KiB and %d pixels a side are the most",
				i+1, m.Width, m.Height, m.Bytes>>10, MaxMedium/4*3>>10, MaxSide)
		}
	}
	if sum > MaxMediaBytes {
		return Errorf(Overflow, "the images of the prompt have %d KiB together, and %d are the most: make them smaller, or give fewer", sum/4*3>>10, MaxMediaBytes/4*3>>10)
	}
	return nil
}

// ImagePath is the entry that an image is kept in, by its Data.
func ImagePath(data string) string {
	sum := sha256.Sum256([]byte(data))
	return fmt.Sprintf("%s://%x", MediumImage, sum[:16])
}

// TakesImages reports whether a model can be shown images by what its provider tells that it
// takes. One of which nothing is told may take them.
func TakesImages(inputs []string) bool {
	return len(inputs) == 0 || slices.Contains(inputs, MediumImage)
}

// String says in a few words what it is, such as "image/png of 800 by 600 pixels".
func (m Medium) String() string {
	what := cmp.Or(m.MIMEType, m.Kind, MediumImage)
	if m.Width > 0 && m.Height > 0 {
		what += fmt.Sprintf(" of %d by %d pixels", m.Width, m.Height)
	}
	return what
}

// Brief is it without Data.
func (m Medium) Brief() Medium {
	m.Data = ""
	return m
}

// BriefMedia are media without Data.
func BriefMedia(all []Medium) []Medium {
	brief := slices.Clone(all)
	for i := range brief {
		brief[i].Data = ""
	}
	return brief
}
