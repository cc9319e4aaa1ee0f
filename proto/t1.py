import sys; sys.path.insert(0,'/tmp/opt')
from geo import *
# check views: codes of conj state equal view map
rng=np.random.default_rng(0)
st=P.random_states(5,1)
for s in st:
    sig=sig_of(s); c,e=to_codes(sig)
    for m in range(48):
        cc,ee=to_codes(conj(m,sig))
        cv,ev=VIEWS[m]
        c2=np.empty(8,int); e2=np.empty(12,int)
        for i in range(8): j,q=cv[i,c[i]]; c2[j]=q
        for i in range(12): j,q=ev[i,e[i]]; e2[j]=q
        # reflections: roll direction differs for corners? check
        ok=(c2==cc).all() and (e2==ee).all()
        if not ok: print(m,'bad',(c2==cc).all(),(e2==ee).all()); break
    else: continue
    break
else: print('views ok')
# moves
s=st[0]; 
for a in range(12):
    t=P.apply(s[None],a)[0]; c,e=to_codes(sig_of(s)); c1,e1=to_codes(sig_of(t))
    assert (cmove[a][c]==c1).all() and (emove[a][e]==e1).all()
print('moves ok', axes, keep)
