package httpconnector

import (
	"errors"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"vayu/schema"
)

// CallbackProblem returns the reply to a callback that [Client.Receive] rejected. It quotes nothing of the request.
func CallbackProblem(err error) *schema.Problem {
	if p, ok := errors.AsType[*schema.Problem](err); ok {
		return p
	}
	return schema.NewProblem(schema.InvalidRequest, "", "The body must have a reference and a known status.")
}

// longestReference is the limit of a provider's reference in bytes. Usual references have about twenty characters.
// CleanReference drops a longer reference, because a truncated one would name no order.
const longestReference = 100

// CleanReference returns a provider's reference. It returns "" if the reference has more than 100
// bytes, or anything but printable ASCII without blanks.
func CleanReference(theirs string) string {
	if len(theirs) > longestReference || strings.ContainsFunc(theirs, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return theirs
}

// CleanText returns a provider's text as one line that can be shown, in NFC with single blanks. Unprintable and
// bidirectional control characters are removed. `most` is the limit in characters; a longer text is cut.
func CleanText(theirs string, most int) string {
	var last rune
	theirs = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case isJoiner(r) && unicode.Is(unicode.Mn, last): // after a virama it is part of the spelling
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		last = r
		return r
	}, theirs)
	theirs = norm.NFC.String(strings.Join(strings.Fields(theirs), " "))
	if runes := []rune(theirs); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return theirs
}

// isJoiner reports whether a character joins or separates two others in an Indian script.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }
