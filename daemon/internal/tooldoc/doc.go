// Package tooldoc is the text by which a model is taught its tools where it writes calls as tags, or has entries as a
// packet (decision 128). Each line teaches syntax, order of work and bounds at once, so each has beside it why it is there;
// only the source has that. Read all of a tool's before you change one. It is pure: the tools of a turn go in, a text comes out.
//
//	text         the text, in the order gather, reason, act, communicate, and what is said of any other tool
//	line         a line, with its reason; example, a call as either dialect writes it
//	gather, reason, act, communicate   the lines of the twelve
package tooldoc
