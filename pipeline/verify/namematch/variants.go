package namematch

import "strings"

// variants maps the sound of each spelling of a name to the sound of its usual spelling. Each line
// has the spellings of one name, the usual one first.
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
rao rav
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

// variantMap maps the sound of each spelling of a line to the sound of the first.
func variantMap(text string) map[string]sound {
	m := map[string]sound{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		first := encodeSound([]byte(words[0]))
		for _, w := range words {
			k := encodeSound([]byte(w))
			m[string(k.bytes())] = first
		}
	}
	return m
}
