package sandbox

import (
	"strings"
	"unicode/utf8"

	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/namematch"
)

// name returns the registered name of the order's account in this scenario. The name is in
// capitals, as banks store names.
func (f scenario) name(o bank.Order) string {
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

// These are the minimum scores that pass the standard and the lenient tolerance of the API.
const (
	standardScore = 70
	lenientScore  = 50
)

// similarName returns a name that partly matches the expected one, such as a bank may have registered for the same
// person. If `expected` is a single surname or letter, no variant passes the standard tolerance. Then similarName
// returns the variant with the best score.
func similarName(expected string) string {
	words := strings.Fields(expected)
	initial, rest := firstLetter(words[0])+" ", strings.Join(words[1:], " ")
	best, score := expected+" K", -1
	for _, name := range []string{
		initial + rest,      // R SHARMA of RAJESH SHARMA
		expected + " KUMAR", // SUNITA KUMAR of SUNITA
		expected + " K",     // an additional initial
		expected + firstLetter(words[len(words)-1]), // an additional letter
		words[0] + rest, // MOHAMMEDSHAIKH of MOHAMMED SHAIKH
		words[0] + firstLetter(rest) + " " + rest, // ACMET TRADERS of ACME TRADERS
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

// dissimilarName returns a name that does not match the expected one. The number n selects the name.
func dissimilarName(expected string, n uint64) string {
	for i := range uint64(len(firstNames)) {
		if name := fullName(n + i*(1+uint64(len(firstNames)))); namematch.Compare(expected, name).Score < lenientScore {
			return name
		}
	}
	return "NOBODY"
}

// firstNames and surnames are common names from all over India. The combination of a first name and
// a surname identifies no real person.
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

// fullName returns a first name and a surname. The number n selects both.
func fullName(n uint64) string {
	return firstNames[n%uint64(len(firstNames))] + " " + surnames[n/uint64(len(firstNames))%uint64(len(surnames))]
}
