// Package show draws what front ends for people show: texts of others, so that none can
// steer a terminal or pass for something else, and the parts of a run (a call with its
// result, a question, a row of the journal) in one shape, so that what happens and what
// happened look the same in every front end.
//
// A part is drawn as Lines of Spans, each with a Style that says what it is. A front end
// paints styles with the colours that it has. Three ways make a text harmless, and each
// has its place:
//
//	Text, Line  what somebody said: odd characters appear as what they are
//	Output      what a program printed, as a terminal would show it
//	Exact       what an answer depends on: no two texts look alike
package show
