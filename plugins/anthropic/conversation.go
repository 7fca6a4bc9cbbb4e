package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/modelhttp"
)

// conversation writes messages as the dialect wants them: system text apart, roles
// in turns, a result for every call at the beginning of the next message, and ids
// that are unique in all of it.
type conversation struct {
	from      string // the server, as Finish.Extra names it
	forgetful bool   // leaves out what was kept of its thinking

	system   []*wireBlock
	messages []wireMessage
	waiting  []waiting    // the calls of the last answer
	said     []*wireBlock // what the user says behind their results
	ids      map[string]bool
}

// waiting is a call and its result.
type waiting struct {
	id     string // the caller's
	result *wireBlock
	given  bool
}

func (c *conversation) add(m sdk.Message) {
	switch {
	case m.Role == sdk.RoleAssistant:
		c.answered(m)
	case m.Role == sdk.RoleTool:
		c.result(m)
	case m.Role == sdk.RoleUser && len(m.Media) > 0:
		for _, x := range m.Media {
			c.said = append(c.said, &wireBlock{Type: "image", Source: &wireSource{"base64", x.MIMEType, x.Data}})
		}
		if strings.TrimSpace(m.Text) != "" {
			c.said = append(c.said, textBlock(m.Text))
		}
	case strings.TrimSpace(m.Text) == "": // the server refuses a text without a word
	case m.Role == sdk.RoleSystem && len(c.messages)+len(c.said) == 0:
		c.system = append(c.system, textBlock(m.Text))
	default:
		c.said = append(c.said, textBlock(m.Text))
	}
}

// result puts a result where its call waits for it. What nobody called for is
// something the user says.
func (c *conversation) result(m sdk.Message) {
	i := slices.IndexFunc(c.waiting, func(w waiting) bool { return w.id == m.CallID && !w.given })
	if i < 0 {
		c.said = append(c.said, textBlock(fmt.Sprintf("[result of %s]\n%s", m.Tool, m.Text)))
		return
	}
	c.waiting[i].given = true
	c.waiting[i].result.Result, c.waiting[i].result.Failed = m.Text, m.Failed
}

// turn ends the user's turn.
func (c *conversation) turn() {
	var content []*wireBlock
	for _, w := range c.waiting {
		if !w.given {
			w.result.Result, w.result.Failed = "There is no result.", true
		}
		content = append(content, w.result)
	}
	content = append(content, c.said...)
	c.waiting, c.said = nil, nil
	c.append(sdk.RoleUser, content)
}

// append adds blocks to the conversation, to its last message when that has the
// same role.
func (c *conversation) append(role sdk.Role, content []*wireBlock) {
	last := len(c.messages) - 1
	switch {
	case len(content) == 0:
	case last >= 0 && c.messages[last].Role == role:
		c.messages[last].Content = append(c.messages[last].Content, content...)
	default:
		c.messages = append(c.messages, wireMessage{Role: role, Content: content})
	}
}

func (c *conversation) answered(m sdk.Message) {
	c.turn()
	var calls []*wireBlock
	for _, call := range m.Calls {
		id := c.unique(call.ID)
		calls = append(calls, &wireBlock{Type: "tool_use", ID: id, Name: modelhttp.ToolName(call.Tool), Input: modelhttp.Object(call.Arguments)})
		c.waiting = append(c.waiting, waiting{id: call.ID, result: &wireBlock{Type: "tool_result", CallID: id}})
	}
	var kept kept
	if !c.forgetful {
		kept = readKept(m.Extra, c.from)
	}
	content := kept.order(m.Text, calls)
	if len(c.messages) == 0 && len(content) > 0 { // a conversation begins with the user
		c.append(sdk.RoleUser, []*wireBlock{textBlock("[What came before is left out.]")})
	}
	c.append(sdk.RoleAssistant, content)
}

// unique makes an id that the server accepts ([A-Za-z0-9_-]) and that no other
// call of the conversation has: other servers give ids for one answer only.
func (c *conversation) unique(id string) string {
	id = modelhttp.ToolName(id)
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	free := id
	for n := 2; c.ids[free]; n++ {
		free = fmt.Sprintf("%s_%d", id, n)
	}
	c.ids[free] = true
	return free
}

func (c *conversation) end() (system []*wireBlock, messages []wireMessage) {
	c.turn()
	return c.system, c.messages
}
