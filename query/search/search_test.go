package search_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"testing"

	"vayu/internal/testing/realdata"
	"vayu/query/places"
	"vayu/query/search"
	"vayu/query/snapshot"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
)

// cpcb returns a snapshot with the stations of CPCB's network and their cities, without figures.
func cpcb(t testing.TB) *snapshot.Snapshot {
	t.Helper()
	file, err := os.Open(realdata.Path(t, "stations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	s := &snapshot.Snapshot{}
	var cities []places.City
	for _, row := range rows[1:] {
		st := snapshot.Station{}
		st.Name = column(row, "station")
		st.ID = air.StationID("cpcb", st.Name)
		st.City, st.State = gazetteer.Canonical(column(row, "city"), column(row, "state"))
		city := places.City{Name: st.City, State: st.State}
		i := slices.Index(cities, city)
		if i < 0 {
			i = len(cities)
			cities = append(cities, city)
			s.Cities = append(s.Cities, slices.Grow(s.Cities, 1)[i:i+1]...)
			s.Cities[i].City = city
		}
		s.Cities[i].Stations = append(s.Cities[i].Stations, int32(len(s.Stations)))
		s.Stations = append(s.Stations, st)
	}
	s.Index = places.NewIndex(cities)
	return s
}

// find returns the places that a text finds.
func find(t *testing.T, x *search.Index, s *snapshot.Snapshot, params map[string]string) []air.PlaceEntry {
	t.Helper()
	r, err := search.Parse(params)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := x.Answer(s, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var reply air.PlaceReply
	if err := json.Unmarshal(resp.Body, &reply); err != nil {
		t.Fatal(err)
	}
	return reply.Data
}

// The first place that a name finds is the named one, in every script, also if the gazetteer lacks the name.
func TestNamesInIndianScripts(t *testing.T) {
	t.Parallel()
	s := cpcb(t)
	x := search.NewIndex(s)
	for want, names := range map[string][]string{
		"city Delhi":      {"দিল্লি", "ਦਿੱਲੀ", "દિલ્હી", "ଦିଲ୍ଲୀ", "டெல்லி", "ఢిల్లీ", "ದೆಹಲಿ", "ഡൽഹി", "नई दिल्ली"},
		"city Mumbai":     {"मुंबई", "मुम्बई", "মুম্বাই", "ਮੁੰਬਈ", "મુંબઈ", "ମୁମ୍ବାଇ", "மும்பை", "ముంబై", "ಮುಂಬೈ", "മുംബൈ"},
		"city Vijayawada": {"విజయవాడ", "विजयवाड़ा"}, "city Surat": {"સુરત", "सूरत"}, "city Amritsar": {"ਅੰਮ੍ਰਿਤਸਰ", "अमृतसर"},
		"city Bhubaneswar": {"ଭୁବନେଶ୍ୱର", "भुवनेश्वर"}, "city Siliguri": {"শিলিগুড়ি", "सिलीगुड़ी"}, "city Hubballi": {"ಹುಬ್ಬಳ್ಳಿ", "हुबली"},
		"city Ahmedabad": {"અમદાવાદ", "अहमदाबाद"}, "city Rajkot": {"રાજકોટ"}, "city Vadodara": {"વડોદરા"}, "city Gandhinagar": {"ગાંધીનગર"},
		"city Kolkata": {"কলকাতা", "कोलकाता"}, "city Howrah": {"হাওড়া", "हावड़ा"}, "city Asansol": {"আসানসোল"}, "city Durgapur": {"দুর্গাপুর"},
		"city Guwahati": {"গুৱাহাটী", "গুয়াহাটি"}, "city Agartala": {"আগরতলা"}, "city Silchar": {"শিলচর"},
		"city Ludhiana": {"ਲੁਧਿਆਣਾ", "लुधियाना"}, "city Jalandhar": {"ਜਲੰਧਰ"}, "city Patiala": {"ਪਟਿਆਲਾ"}, "city Bathinda": {"ਬਠਿੰਡਾ"},
		"city Chennai": {"சென்னை", "चेन्नई"}, "city Coimbatore": {"கோயம்புத்தூர்"}, "city Madurai": {"மதுரை"}, "city Salem": {"சேலம்"},
		"city Vellore": {"வேலூர்"}, "city Hyderabad": {"హైదరాబాద్", "हैदराबाद", "ഹൈദരാബാദ്"}, "city Tirupati": {"తిరుపతి", "திருப்பதி"},
		"city Visakhapatnam": {"విశాఖపట్నం"}, "city Guntur": {"గుంటూరు"}, "city Bengaluru": {"ಬೆಂಗಳೂರು", "বেঙ্গালুরু", "பெங்களூரு"},
		"city Mysuru": {"ಮೈಸೂರು", "मैसूर"}, "city Mangalore": {"ಮಂಗಳೂರು"}, "city Belgaum": {"ಬೆಳಗಾವಿ"}, "city Thrissur": {"തൃശ്ശൂർ", "തൃശൂർ"},
		"city Kannur": {"കണ്ണൂർ", "கண்ணூர்"}, "city Kollam": {"കൊല്ലം"}, "city Thiruvananthapuram": {"തിരുവനന്തപുരം"}, "city Cuttack": {"କଟକ"},
		"city Rourkela": {"ରାଉରକେଲା"}, "city Pune": {"पुणे", "পুনে", "પુણે"}, "city Nagpur": {"नागपूर", "नागपुर"}, "city Nashik": {"नाशिक"},
		"city Lucknow": {"लखनऊ", "লখনউ"}, "city Kanpur": {"कानपुर"}, "city Varanasi": {"वाराणसी", "বারাণসী"}, "city Patna": {"पटना", "পাটনা"},
		"city Jaipur": {"जयपुर", "জয়পুর", "જયપુર"}, "city Bhopal": {"भोपाल"}, "city Indore": {"इंदौर", "इन्दौर"}, "city Chandigarh": {"ਚੰਡੀਗੜ੍ਹ", "चंडीगढ़"},
		"city Gurugram": {"गुरुग्राम", "गुड़गांव"}, "city Noida": {"नोएडा"}, "city Ghaziabad": {"गाज़ियाबाद"},
		"state Uttar Pradesh": {"उत्तर प्रदेश", "উত্তর প্রদেশ"}, "state Maharashtra": {"महाराष्ट्र", "மகாராஷ்டிரா"},
		"state West Bengal": {"पश्चिम बंगाल", "পশ্চিমবঙ্গ", "পশ্চিম বঙ্গ"}, "state Tamil Nadu": {"தமிழ்நாடு", "तमिलनाडु", "తమిళనాడు"},
		"state Kerala": {"કેરળ", "കേരളം", "केरल"}, "state Gujarat": {"ગુજરાત"}, "state Punjab": {"ਪੰਜਾਬ", "पंजाब"}, "state Odisha": {"ଓଡ଼ିଶା", "ओडिशा"},
		"state Karnataka": {"ಕರ್ನಾಟಕ"}, "state Telangana": {"తెలంగాణ"}, "state Andhra Pradesh": {"ఆంధ్ర ప్రదేశ్"}, "state Bihar": {"बिहार", "বিহার"},
		"station cpcb-anand-vihar-delhi-dpcc": {"आनंद विहार", "আনন্দ বিহার", "ఆనంద్ విహార్"}, "station cpcb-punjabi-bagh-delhi-dpcc": {"पंजाबी बाग", "ਪੰਜਾਬੀ ਬਾਗ"},
		"station cpcb-velachery-res-area-chennai-cpcb": {"வேளச்சேரி"},
	} {
		for _, name := range names {
			t.Run(want+" "+name, func(t *testing.T) {
				t.Parallel()
				got := find(t, x, s, map[string]string{"q": name})
				if len(got) == 0 || got[0].Type+" "+got[0].ID != want {
					t.Errorf("got %v, want %s first", names5(got), want)
				}
			})
		}
	}
	for _, name := range []string{"दिल्ली", "ଦିଲ୍ଲୀ", "DL"} {
		if got := find(t, x, s, map[string]string{"q": name, "type": "state"}); len(got) != 1 || got[0].ID != "Delhi" {
			t.Errorf("got %v, want the state of %s", names5(got), name)
		}
	}
}

// names5 returns the types and ids of the first five places.
func names5(found []air.PlaceEntry) (all []string) {
	for _, e := range found[:min(5, len(found))] {
		all = append(all, e.Type+" "+e.ID)
	}
	return all
}

// Texts that name no place find none, although a few letters agree.
func TestOtherWordsInIndianScriptsFindNothing(t *testing.T) {
	t.Parallel()
	s := cpcb(t)
	x := search.NewIndex(s)
	for _, text := range []string{"अटलांटिस", "கடல்நீர்", "বৃষ্টি পড়ে", "ಪುಸ್ತಕ", "લખાણપટ્ટી", "മഴക്കാലം", "పుస్తకం", "ਕਿਤਾਬਾਂ"} {
		if got := find(t, x, s, map[string]string{"q": text}); len(got) > 0 {
			t.Errorf("%s: got %v, want no place", text, names5(got))
		}
	}
}

// The name of a city in replies finds the city first, also without the comma, and with a code of the state.
func TestCanonicalNamesFindTheCityFirst(t *testing.T) {
	t.Parallel()
	s := cpcb(t)
	x := search.NewIndex(s)
	for i := range s.Cities {
		c := &s.Cities[i]
		want := s.Index.Label(i)
		for _, text := range []string{want, c.Name + ", " + c.State, c.Name + " " + c.State} {
			if got := find(t, x, s, map[string]string{"q": text, "limit": "2"}); len(got) == 0 || got[0].ID != want {
				t.Errorf("%s: got %v, want %s first", text, names5(got), want)
			}
		}
	}
	for text, want := range map[string]string{
		"aurangabad MH": "Aurangabad, Maharashtra", "Aurangabad BR": "Aurangabad, Bihar", "औरंगाबाद बिहार": "Aurangabad, Bihar", "Bombay, Maharashtra": "Mumbai",
		"UP": "Uttar Pradesh", "tn": "Tamil Nadu", "MH": "Maharashtra", "J&K": "Jammu and Kashmir", "OD": "Odisha", "OR": "Odisha", "CG": "Chhattisgarh", "UK": "Uttarakhand",
	} {
		if got := find(t, x, s, map[string]string{"q": text}); len(got) == 0 || got[0].ID != want {
			t.Errorf("%s: got %v, want %s first", text, names5(got), want)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	s := cpcb(b)
	x := search.NewIndex(s)
	for _, text := range []string{"bangalor", "anand vihra", "Aurangabad, Maharashtra", "दिल्ली", "দিল্লি", "ஆனந்த் விஹார்"} {
		b.Run(strconv.Quote(text), func(b *testing.B) {
			r, err := search.Parse(map[string]string{"q": text})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := x.Answer(s, r, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			search.NewIndex(s)
		}
	})
}
