package sandbox

import (
	"strings"
	"unicode/utf8"

	"vayu/pipeline/verify"
	"vayu/pipeline/verify/namematch"
)

// name is that of an account, in capitals as banks keep it.
func (f scenario) name(o verify.Order) string {
	target := o.Account + o.IFSC + o.VPA
	switch expected := strings.ToUpper(strings.TrimSpace(o.Expected)); {
	case expected == "":
		return fullName(hash(target))
	case f == isPartial:
		return similarName(expected)
	case f == isOther:
		return dissimilarName(expected, hash(target))
	default:
		return expected
	}
}

// What the name match calls alike: 70 passes the standard tolerance, and 50 the
// lenient one (CONTRACT 5).
const (
	standardScore = 70
	lenientScore  = 50
)

// similarName is a name that is partly like another: as a bank might have registered whoever
// has it. A surname alone, and a letter, have none that is like them enough for the
// standard tolerance.
func similarName(expected string) string {
	words := strings.Fields(expected)
	initial, rest := firstLetter(words[0])+" ", strings.Join(words[1:], " ")
	best, score := expected+" K", -1
	for _, name := range []string{
		initial + rest,      // R SHARMA of RAJESH SHARMA
		expected + " KUMAR", // SUNITA KUMAR of SUNITA
		expected + " K",     // an initial more
		expected + firstLetter(words[len(words)-1]), // a letter more
		words[0] + rest, // MOHAMMEDSHAIKH of two words that many are called
		words[0] + firstLetter(rest) + " " + rest, // ACMET TRADERS PVT LTD
	} {
		name = strings.TrimSpace(name)
		if r := namematch.Compare(expected, name); !r.Exact && r.Score > score {
			best, score = name, r.Score
		}
		if score >= standardScore {
			break
		}
	}
	return best
}

func firstLetter(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return word[:size]
}

// dissimilarName is a name that is not like another.
func dissimilarName(expected string, n uint64) string {
	for i := range uint64(len(firstNames)) {
		if name := fullName(n + i*(1+uint64(len(firstNames)))); namematch.Compare(expected, name).Score < lenientScore {
			return name
		}
	}
	return "NOBODY"
}

// firstNames and family are common names all over India. Each joined to each they are
// nobody's in particular.
var (
	firstNames = []string{
		"ASHA", "MEENA", "KAVITA", "RAMESH", "ANITA", "DEEPAK", "GEETA", "MANOJ", "ARUN", "NITIN", "SAVITRI", "HARISH", "USHA", "PRAKASH",
		"LEELA", "FARIDA", "IMRAN", "JOSEPH", "MARY", "GURPREET", "HARJIT", "LAKSHMI", "MURUGAN", "SELVI", "BIPIN", "MITALI", "TENZIN",
	}
	surnames = []string{
		"RAO", "SHARMA", "PATEL", "NAIR", "IYER", "REDDY", "GUPTA", "DAS", "SINGH", "VERMA", "JOSHI", "KULKARNI", "PILLAI", "MEHTA",
		"MENON", "BORA", "THOMAS", "FERNANDES", "SHAIKH", "BISWAS", "MISHRA", "YADAV", "CHAUHAN", "NAIK", "BHAT", "KAUR", "DESAI",
	}
)

// fullName is one of the names.
func fullName(n uint64) string {
	return firstNames[n%uint64(len(firstNames))] + " " + surnames[n/uint64(len(firstNames))%uint64(len(surnames))]
}
