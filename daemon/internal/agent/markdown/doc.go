// Package markdown reads agents from Markdown files: fields between two fences, and the
// persona below them, as other agents' collections have them. Whoever wrote such a file, it
// only says what it asks for: what it gets is for the list of agents to rule, which holds it
// to what the agent default may do.
//
//	Parse      a text: fields of every habit, tools by their names here, what is odd by its line
//	Library    the folders of the user and of each project, watched
//	Check      files that a person is working on
//
// A file of a workspace is marked as untrusted until a person has said yes to its very bytes.
package markdown
