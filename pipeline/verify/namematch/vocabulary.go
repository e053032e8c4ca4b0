package namematch

import "strings"

// trait is a property of a word in the tables; a word may have several.
type trait uint16

// Traits of a spelling.
const (
	// title is the trait of a word that is never part of a name, such as Mr.
	title trait = 1 << iota
	// leading is the trait of a word that is a title only in front of the rest of the name, such as Sri.
	leading
	// shortForm is the trait of an abbreviation, such as Ltd. The map forms has its full spelling, which counts as the
	// same word.
	shortForm
	// companyForm is the trait of a word for the legal form of a company, such as limited. If only one name lacks the
	// form, the companies can be the same. If the forms differ, so do the companies.
	companyForm
	// filler is the trait of a word that may be missing from a company's name, such as "and".
	filler
	// trade is the trait of a word that marks the name of a company, such as Traders. In such a
	// name every word must match.
	trade
	// apart is the trait of a name that sounds like another name but is separate: Sethi is not Shetty.
	apart
)

// Traits of a sound.
const (
	// weak is the trait of a word that occurs in very many names and barely identifies a person, such as Kumar.
	weak trait = 1 << iota
	// prefix is the trait of a word that precedes a given name and is often omitted, such as Md.
	prefix
	// surname is the trait of a common surname. A surname alone does not identify a person, and two different surnames
	// never match. A surname in front is the given name only if the last word is also a surname.
	surname
	// compoundHead is the trait of a word that may have a final a before a compoundTail: Ram
	// Krishna, Rama Krishna. Elsewhere a final a makes another name: Anil, Anila.
	compoundHead
	compoundTail
	// maleHead is the trait of a word that may also have a final a before a nameTail: Shiva Prasad is Shiv Prasad.
	// Words with only compoundHead may not, because the a can make a woman's name: Rama Prasad is not Ram Prasad.
	maleHead
	nameTail
)

// forms maps short spellings to the full ones that count as the same word.
var forms = map[string]string{
	"&": "and", "pvt": "private", "pvtltd": "private", "ltd": "limited", "co": "company", "corp": "corporation",
	"inc": "incorporated", "bros": "brothers",
}

var bySpelling = table(func(w string) string { return w }, map[trait]string{
	title: `mr mrs ms miss shrimati srimati smt dr prof er adv shriman janab
	श्रीमती डॉ डा डाॅ`,
	leading:     `sri shri shree sree late kumari master mx messrs श्री कुमारी स्व`,
	shortForm:   `& pvt pvtltd ltd co corp inc bros`,
	companyForm: `private limited company corporation incorporated llp opc`,
	filler:      `and the of`,
	trade: `traders trader trading enterprises enterprise industries industry stores store works textiles textile
	technologies technology tech infotech infra infrastructure foods food agro exports export imports international intl
	electricals electronics constructions construction consultants consultancy services service solutions systems
	motors transport roadlines roadways logistics finance securities pharma pharmaceuticals medicals medical hospital
	hotel hotels caterers jewellers steel steels cables pumps tubes pipes mills mill agency agencies associates builders
	developers brothers sons software supermarket engineering engg manufacturing mfg inds ent bank trust society
	school college foundation`,
	apart: `sethi`,
})

var bySound = table(soundText, map[trait]string{
	weak: `kumar kumari singh kaur devi lal bai bi begum bibi khatun khatoon bano md rani bhai ben amma
	chand nath prasad`,
	prefix: `md syed shaikh`,
	surname: `sharma verma gupta agarwal jain shah saha mehta mehra patel patil joshi desai deshpande deshmukh
	kulkarni jadhav shinde pawar more kale gaikwad bhosale chavan chauhan yadav mishra tiwari pandey pandya dubey shukla
	trivedi tripathi chaturvedi dwivedi pathak jha sinha saxena srivastava mathur kapoor khanna malhotra chopra ahuja
	bhatia arora sethi gill sidhu sandhu dhillon grewal bedi brar reddy naidu rao chaudhary raju iyer iyengar nair menon
	pillai shetty hegde gowda pai kamath bhat banerjee mukherjee chatterjee ganguly bhattacharya ghosh bose roy dey das
	dasgupta sen sengupta dutta mitra sarkar biswas guha khan ansari qureshi siddiqui pathan hussain fernandes dsouza
	pereira pinto rodrigues dias lobo thakur rathore rana rawat negi bisht solanki parmar makwana modi dave meena saini
	sahu sah jena nayak naik panda patra mohanty kapadia chawla chawda sood prajapati vyas bajaj`,
	compoundHead: `ram shiv raj bal venkat dev nag sundar gopal`,
	compoundTail: `krishna krishnan chandra murthy narayan narayana sekhar ramana lingam subramanian`,
	maleHead:     `shiv venkat`,
	nameTail:     `kumar prasad prakash`,
})

// table returns the traits of the words in `texts`. The function `key` returns the key of a word in the result.
func table(key func(string) string, texts map[trait]string) map[string]trait {
	m := map[string]trait{}
	for t, text := range texts {
		for w := range strings.FieldsSeq(text) {
			m[key(w)] |= t
		}
	}
	return m
}

// soundText returns the sound of a word as text, which is the key of bySound.
func soundText(w string) string {
	k := soundOf([]byte(w))
	return string(k.bytes())
}

// soundOf returns the sound of a word. If the word is a variant of a usual spelling, it returns the
// sound of that spelling.
func soundOf(w []byte) sound {
	k := encodeSound(w)
	if v, ok := variants[string(k.bytes())]; ok {
		return v
	}
	return k
}
