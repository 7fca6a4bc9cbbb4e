package packet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// pictures are the images of a prompt, and what of them its row says.
type pictures struct {
	media []sdk.Medium
	with  images
}

func picturesOf(prompt *sdk.Entry) *pictures {
	media := meaning(prompt).Media
	if len(media) == 0 {
		return nil
	}
	return &pictures{media: media}
}

// images are those of an earlier prompt that go with it while it is visible, and what they cost. Those of the loop's prompt stay
// whatever its level is, and are none of these: it is what they were given with.
type images struct{ count, tokens int }

// imagesOf are those of a prompt that its level decides about. Whether others leave room for them does not count.
func (f *found) imagesOf(p *piece, in *sdk.Assembly) (all images) {
	if p.row.Loop == in.Loop.ID || !sdk.TakesImages(in.Inputs) {
		return all
	}
	for i := range p.pictures.media {
		if m := &p.pictures.media[i]; f.images[m.URI] != "" {
			all.count++
			all.tokens += view.MediumTokens(m)
		}
	}
	return all
}

// say puts into the elements of a prompt what it costs with its images, and that they are left out with its text.
func (x images) say(visible, summary *element) {
	if visible.brings = x.tokens; x.count > 0 {
		summary.text += fmt.Sprintf("\n[Left out with it, images: %d. get makes it visible again, with its images.]", x.count)
	}
}

// picture begins the user message with the images of the loop's prompt and of those that are shown whole, and says in the
// instructions which of them are not shown.
func (c *cache) picture(p *sdk.Prompt) {
	var media []sdk.Medium
	for _, x := range c.prompts {
		if slices.ContainsFunc(p.Rows, func(r *sdk.Row) bool { return r.Path == x.path && (r.IsVisible() || isPrompt(p, r)) }) {
			media = append(media, x.pictures.media...)
		}
	}
	media, notes := view.Images(media, c.images, c.inputs)
	p.Messages = []sdk.Message{{Role: sdk.RoleUser, Media: media}}
	if p.Instructions = c.said; notes != "" {
		p.Instructions = strings.TrimSpace(c.said + "\n\n" + strings.TrimSpace(notes))
	}
}
