package namematch

import "strings"

// The tables hold words in folded spelling. What they decide is said beside
// each; README.md says where they come from.

// set makes a table of the words of a text.
func set(text string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		m[w] = true
	}
	return m
}

// titles are no part of a name wherever they stand.
var titles = set(`mr mrs ms miss shrimati srimati smt dr prof er adv shriman janab
	श्रीमती डॉ डा डाॅ`)

// leading titles are no part of a name in front of the rest of it.
var leading = set(`sri shri shree sree late kumari master mx messrs श्री कुमारी स्व`)

// forms are short spellings whose full one counts as the same word.
var forms = map[string]string{
	"&": "and", "pvt": "private", "pvtltd": "private", "ltd": "limited", "co": "company", "corp": "corporation",
	"inc": "incorporated", "bros": "brothers", "l.l.p": "llp",
}

// companyForms say what a company is before the law. One that is missing does
// not make another company; two that differ do.
var companyForms = set(`private limited company corporation incorporated llp opc`)

// fillers may be missing from a company's name.
var fillers = set(`and the of`)

// trades make a name that of a firm, where each word counts.
var trades = set(`traders trader trading enterprises enterprise industries industry stores store works textiles textile
	technologies technology tech infotech infra infrastructure foods food agro exports export imports international intl
	electricals electronics constructions construction consultants consultancy services service solutions systems
	motors transport roadlines roadways logistics finance securities pharma pharmaceuticals medicals medical hospital
	hotel hotels caterers jewellers steel steels cables pumps tubes pipes mills mill agency agencies associates builders
	developers brothers sons software supermarket engineering engg manufacturing mfg inds ent bank trust society
	school college foundation`)

// weakWords go with very many names and say little of who it is.
var weakWords = soundSet(`kumar kumari singh kaur devi lal bai bi begum bibi khatun khatoon bano md rani bhai ben amma
	chand nath prasad`)

// prefixes stand before a given name and are often left out.
var prefixes = soundSet(`md syed shaikh`)

// surnames are common ones: standing alone they say nothing of who it is, two
// different ones never are one, and in front they are not taken for the given name.
var surnames = soundSet(`sharma verma gupta agarwal jain shah saha mehta mehra patel patil joshi desai deshpande deshmukh
	kulkarni jadhav shinde pawar more kale gaikwad bhosale chavan chauhan yadav mishra tiwari pandey pandya dubey shukla
	trivedi tripathi chaturvedi dwivedi pathak jha sinha saxena srivastava mathur kapoor khanna malhotra chopra ahuja
	bhatia arora sethi gill sidhu sandhu dhillon grewal bedi brar reddy naidu rao chaudhary raju iyer iyengar nair menon
	pillai shetty hegde gowda pai kamath bhat banerjee mukherjee chatterjee ganguly bhattacharya ghosh bose roy dey das
	dasgupta sen sengupta dutta mitra sarkar biswas guha khan ansari qureshi siddiqui pathan hussain fernandes dsouza
	pereira pinto rodrigues dias lobo thakur rathore rana rawat negi bisht solanki parmar makwana modi dave meena saini
	sahu sah jena nayak naik panda patra mohanty kapadia chawla chawda sood prajapati vyas bajaj`)

// compounds take or leave their last a before a second half: Ram Krishna,
// Rama Krishna. Elsewhere that a is another person: Anil, Anila.
var (
	compoundHeads = soundSet(`ram shiv raj bal venkat dev nag sundar gopal`)
	compoundTails = soundSet(`krishna krishnan chandra murthy narayan narayana sekhar ramana lingam subramanian`)
	// kumar and prasad may be a husband's name: Rama Prasad is Rama, his wife.
	maleHeads = soundSet(`shiv venkat`)
	nameTails = soundSet(`kumar prasad prakash`)
)

// variants are groups of spellings that no rule of sound joins: the first of a
// line stands for all.
var variants = variantMap(`
mohammed mohammad mohamed mohamad muhammad muhammed mohammod mahammad mohmad mohmed mohd md muhamad
chaudhary chaudhari choudhary choudhari choudhury chowdhury chowdhary chowdary chaudhuri choudhry chaudhry choudary chowdhry
agarwal agrawal aggarwal agarwala agraval
banerjee banerji bandyopadhyay bandopadhyay banarji
mukherjee mukherji mukharji mukhopadhyay mookerjee mukerjee mukharjee
chatterjee chatterji chattopadhyay chattarji chattopadhyaya
ganguly ganguli gangopadhyay
bhattacharya bhattacharjee bhattacharyya bhattacharji
bose basu
ghosh ghose
dey de
subramanian subramaniam subramanyam subrahmanyam subramaniyam subrahmanian subramaniyan
venkateswara venkateshwara venkateswar venkateshwar venkateswarlu
iyer aiyar ayyar
iyengar ayyangar aiyangar
nair nayar
pillai pillay pillei
tiwari tewari tiwary tivari
verma varma
rathore rathor rathod
sahu sahoo
jadhav jadhao
dattatray dattatraya dattatrey
kumar kr kmr
shaikh sheikh shaik sk sheik shekh
syed sayyed sayed saiyad saiyed syeed
ahmed ahmad ahamed ahemad ahmedd
hussain husain hussein hossain husein hosain
rahman rehman rahaman
begum begam
akhtar akhter aktar
ayesha aisha aysha aesha
osman usman uthman
omar umar umer
iqbal ikbal eqbal
qureshi quraishi kureshi quraishy
siddiqui siddiqi siddique siddiki siddiquee
sanjay sanjoy
joydeep jaydeep jaideep
elizabeth elisabeth
anthony antony antoni
hegde hegade
namboodiri namboothiri nambudiri namboodri
varghese verghese vargis
jose josey
sri shri shree sree
store stores
engineering engg
manufacturing mfg
industries inds ind
enterprises ent
international intl
srinivas srinivasa shrinivas
singh sinh singha
chander chandra chandar
`)

// variantMap leads from the sound of each spelling to the sound of the first.
func variantMap(text string) map[string]sound {
	m := map[string]sound{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		first := hear([]byte(words[0]))
		for _, w := range words {
			k := hear([]byte(w))
			m[string(k.bytes())] = first
		}
	}
	return m
}

// soundSet is a table of words by their sound.
func soundSet(text string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		k := soundOf([]byte(w))
		m[string(k.bytes())] = true
	}
	return m
}

// apart are spellings that sound like another name and are one of their own:
// Sethi is not Shetty.
var apart = set(`sethi`)

// soundOf is the sound of a word, or of what its spelling is a variant of.
func soundOf(w []byte) sound {
	k := hear(w)
	if apart[string(w)] {
		k.put('0')
	}
	if v, ok := variants[string(k.bytes())]; ok {
		return v
	}
	return k
}
