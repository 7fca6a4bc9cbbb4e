// Package edit reads what a model writes into the body of `set`: regions between
// markers, each of which is an operation on the text of an entry, or else the new text
// as it stands (decision 125).
//
// It is pure: Parse reads the markers, Apply makes the operations on a body, each on what
// the one before it left. All of them hold or nothing is changed. Where a search fits
// twice, or a region could end in two places, that is refused and not guessed. Reading is
// linear in the text, and what the operations read of a body is bounded.
package edit
