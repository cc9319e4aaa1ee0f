import sys, time; sys.path.insert(0,'/tmp/opt')
import csv
from coset import *
from cube_nb.search.ida import pruning_automaton
from cube_nb.cube.notation import parse
AUT=pruning_automaton(P).astype(np.int16)
# contribution tables: [direct or inverse][piece][code]
CW=np.zeros((2,8,24),np.int64); EW=np.zeros((2,2,12,24),np.int64)
for v,m in enumerate(axes):
    cv,ev=VIEWS[m]
    for i in range(8):
        for c in range(24):
            j,q=cv[i,c]; pos,ori=divmod(int(q),3)
            CW[0,i,c]+=(ori*int(POW3[pos]))<<(12*v)|int(j<4)<<(36+8*v+pos)
            CW[1,i,c]+=(((-ori)%3)*int(POW3[j]))<<(12*v)|int(pos<4)<<(36+8*v+int(j))
    for i in range(12):
        for c in range(24):
            j,q=ev[i,c]; pos,ori=divmod(int(q),2)
            EW[0,0,i,c]+=ori<<(12*v+pos); EW[0,1,i,c]+=int(j>=8)<<(12*v+pos)
            EW[1,0,i,c]+=ori<<(12*v+int(j)); EW[1,1,i,c]+=int(pos>=8)<<(12*v+int(j))
# the sums of CO digits may not be reduced: each position gets one piece, so each digit once
R8=np.where(rank8<0,0,rank8).astype(np.int16); R12=np.where(rank12<0,0,rank12).astype(np.int16)
CM=cmove; EM=emove
@njit(inline='always')
def entry(cw,e0,e1,v,table,K,bits,ACLS,R8,R12,SCONJ,EPERM,XM,NIB,POP):
    A=(cw>>(12*v)&0xFFF)*70+R8[cw>>(36+8*v)&0xFF]
    t=ACLS[A]; k=t&15
    s=R12[e1>>(12*v)&0xFFF]
    s2=SCONJ[k,s]
    e=pext(EPERM[k,e0>>(12*v)&0xFFF]^XM[k,s],K[s2],NIB,POP)
    return ((np.int64(t)>>4)*495+s2<<bits)+e
@njit(cache=True)
def bounds(C,E,table,base,K,bits,CW,EW,ACLS,R8,R12,SCONJ,EPERM,XM,NIB,POP):
    out=np.empty((len(C),6),np.int64)
    for b in range(len(C)):
        for side in range(2):
            cw=0;e0=0;e1=0
            for i in range(8): cw+=CW[side,i,C[b,i]]
            for i in range(12): e0+=EW[side,0,i,E[b,i]]; e1+=EW[side,1,i,E[b,i]]
            for v in range(3):
                at=entry(cw,e0,e1,v,table,K,bits,ACLS,R8,R12,SCONJ,EPERM,XM,NIB,POP)
                out[b,3*side+v]=base+(table[at>>2]>>(2*(at&3))&3)
    return out
TAB=(CW,EW,ACLS,R8,R12,SCONJ,EPERM,XM,NIB,POP)
@njit(cache=True,nogil=True)
def dfs(C0,E0,past0,length,start_depth,big,bb,KB,bitsB,small,sb,KS,bitsS,counts,AUT,CM,EM,CW,EW,ACLS,R8,R12,SCONJ,EPERM,XM,NIB,POP,word):
    "All continuations of exactly `length` moves; True if one solves. counts: nodes, look-ups."
    D=length+2
    C=np.empty((D,12,8),np.uint8); E=np.empty((D,12,12),np.uint8)
    past=np.empty((D,12),np.int64); mv=np.empty((D,12),np.int64)
    n=np.zeros(D,np.int64); cur=np.zeros(D,np.int64)
    W=np.empty((12,3),np.int64); at=np.empty(12,np.int64); alive=np.empty(12,np.int64); eq=np.empty(12,np.int64)
    C[0,0]=C0; E[0,0]=E0; past[0,0]=past0; n[0]=1; d=0
    nodes=0; looks=0
    while d>=0:
        if cur[d]==n[d]:
            d-=1; continue
        s=cur[d]; cur[d]+=1
        if d>0: word[d-1]=mv[d,s]
        r1=length-d-1   # moves left for the children
        if r1<0:
            ok=True
            for i in range(8):
                if C[d,s,i]!=3*i: ok=False
            for i in range(12):
                if E[d,s,i]!=2*i: ok=False
            if ok:
                counts[0]+=nodes; counts[1]+=looks
                return True
            continue
        # children
        m=0
        q=d+1
        for a in range(12):
            p=AUT[past[d,s],a]
            if p<0: continue
            for i in range(8): C[q,m,i]=CM[a,C[d,s,i]]
            for i in range(12): E[q,m,i]=EM[a,E[d,s,i]]
            past[q,m]=p; mv[q,m]=a
            alive[m]=m; m+=1
        nodes+=m
        if r1<=bb+2:
            use_big=r1>=bb
            table=big if use_big else small
            base=bb if use_big else sb
            K=KB if use_big else KS
            bits=bitsB if use_big else bitsS
            for side in range(2):
                if m==0: break
                for j in range(m):
                    x=alive[j]
                    cw=0
                    for i in range(8): cw+=CW[side,i,C[q,x,i]]
                    e0=0; e1=0
                    for i in range(12):
                        e0+=EW[side,0,i,E[q,x,i]]; e1+=EW[side,1,i,E[q,x,i]]
                    W[j,0]=cw; W[j,1]=e0; W[j,2]=e1; eq[j]=0
                for v in range(3):
                    for j in range(m):
                        at[j]=entry(W[j,0],W[j,1],W[j,2],v,table,K,bits,ACLS,R8,R12,SCONJ,EPERM,XM,NIB,POP)
                    looks+=m
                    k=0
                    for j in range(m):
                        val=table[at[j]>>2]>>(2*(at[j]&3))&3
                        bound=base+val if val>0 else 0
                        if bound<=r1:
                            eq_=eq[j]+(bound==r1)
                            if v==2 and eq_==3: continue   # each axis needs all of them: one more
                            alive[k]=alive[j]; W[k,0]=W[j,0]; W[k,1]=W[j,1]; W[k,2]=W[j,2]; eq[k]=eq_; k+=1
                    m=k
        # compact
        for j in range(m):
            x=alive[j]
            if x!=j:
                for i in range(8): C[q,j,i]=C[q,x,i]
                for i in range(12): E[q,j,i]=E[q,x,i]
                past[q,j]=past[q,x]; mv[q,j]=mv[q,x]
        n[q]=m; cur[q]=0; d=q
    counts[0]+=nodes; counts[1]+=looks
    return False
def codes(states):
    cs,es=zip(*(to_codes(sig_of(s)) for s in states)); return np.array(cs,np.uint8),np.array(es,np.uint8)
if __name__=='__main__':
    kind,base,small_base=sys.argv[1],int(sys.argv[2]),8
    small=np.load('/tmp/opt/slice-8.npy'); big=np.load(f'/tmp/opt/{kind}-{base}.npy')
    bits=dict(all=11,other=8,slice=4)
    st=P.random_states(2000,5); C,E=codes(st)
    b=bounds(C,E,big,base,kept(kind),bits[kind],*TAB)
    print('mean each',b.mean(), 'max',b.max(1).mean(), np.bincount(b.ravel()), np.bincount(b.max(1)))
    lo=b.max(1)
    rows=list(csv.DictReader(open('/work/shared/data/cube3_qtm_optimal.csv')))
    for r in rows[:int(sys.argv[3])]:
        opt=int(r['optimal_qtm'])
        state=P.apply_word(P.solved,parse(P,r['scramble'])); C,E=codes([state])
        for L in (opt-4,opt-2,opt):
            if L>int(sys.argv[4]): continue
            counts=np.zeros(2,np.int64); word=np.zeros(40,np.int64); t0=time.perf_counter()
            found=dfs(C[0],E[0],0,L,0,big,base,kept(kind),bits[kind],small,small_base,kept('slice'),4,counts,AUT,CM,EM,*TAB,word)
            dt=time.perf_counter()-t0
            print(opt,L,found,counts.tolist(),f'{dt:.2f}s {counts[1]/dt/1e6:.2f} M look-ups/s',flush=True)
            if found: assert P.is_solved(P.apply_word(state,tuple(word[:L].tolist()))[None])[0]
