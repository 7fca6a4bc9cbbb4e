package sdk

import "slices"

// maxWrote bounds what of a name that somebody wrote is compared.
const maxWrote = 200

// Nearest is the name with the fewest edits to one that somebody wrote, the first
// of several; "" when there are no names. What fold makes equal, as upper and lower
// case, costs no edit.
func Nearest(wrote string, names []string, fold func(string) string) string {
	if len(names) == 0 {
		return ""
	}
	wrote = fold(wrote[:min(len(wrote), maxWrote)])
	return slices.MinFunc(names, func(a, b string) int {
		return EditDistance(wrote, fold(a)) - EditDistance(wrote, fold(b))
	})
}

// EditDistance is how many bytes have to be put in, left out or changed to make one
// text of the other (Levenshtein).
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
