import sys, time; sys.path.insert(0,'/tmp/opt')
import csv
from coset import *
from search import CW,EW,R8,R12,CM,EM,codes,bounds,TAB,AUT
from cube_nb.cube.notation import parse, invert
from itertools import product
def kept_words(length):
    seen=set(); kept=[]
    for k in range(length+1):
        for w in product(range(12),repeat=k):
            p=P.word_permutation(w).tobytes()
            if p not in seen: seen.add(p); kept.append(w)
    return kept
KEPT=kept_words(3)
def automaton(words):
    number={w:i for i,w in enumerate(w for w in words if len(w)<3)}
    t=np.full((len(number),12),-1,np.int16)
    for w in words:
        if w: t[number[w[:-1]],w[-1]]=number[w[-2:]]
    return t
inv_word=lambda w: tuple(int(x) for x in invert(P,w))
AUT2=np.stack([automaton(KEPT),automaton([inv_word(w) for w in KEPT])])
axis_of=np.array([(a//2)%3 for a in range(12)])
CNT=np.zeros((2,AUT2.shape[1],8),np.int16)
for o in range(2):
    for p in range(AUT2.shape[1]):
        for m in range(8): CNT[o,p,m]=sum(AUT2[o,p,a]>=0 and not m>>axis_of[a]&1 for a in range(12))
AX=axis_of.astype(np.int64)
c1,c2=np.divmod(np.arange(576),24)
CM2=(CM[:,c1].astype(np.int16)*24+CM[:,c2]); EM2=(EM[:,c1].astype(np.int16)*24+EM[:,c2])
CW2=np.ascontiguousarray(np.stack([CW[:,2*i][:,c1]+CW[:,2*i+1][:,c2] for i in range(4)],1)) # [2,4,576]
EW2=np.ascontiguousarray(np.stack([EW[:,:,2*i][:,:,c1]+EW[:,:,2*i+1][:,:,c2] for i in range(6)],2)) #[2,2,6,576]
EW2=np.ascontiguousarray(EW2.transpose(0,2,3,1)) # [2,6,576,2]
def px(kind):
    K=kept(kind); out=np.zeros((495,3,16),np.uint16)
    for s in range(495):
        sh=0
        for part in range(3):
            m=int(K[s])>>(4*part)&15
            for v in range(16): out[s,part,v]=int(NIB[m,v])<<sh
            sh+=bin(m).count('1')
    return out
from typing import NamedTuple
class Tab(NamedTuple):
    table: np.ndarray
    base: int
    bits: int
    px: np.ndarray
class Cst(NamedTuple):
    CM2: np.ndarray; EM2: np.ndarray; CW2: np.ndarray; EW2: np.ndarray
    ACLS: np.ndarray; R8: np.ndarray; R12: np.ndarray; SCONJ: np.ndarray; EPERM: np.ndarray; XM: np.ndarray
    AUT2: np.ndarray; CNT: np.ndarray; AX: np.ndarray
CST=Cst(CM2,EM2,CW2,EW2,ACLS,R8,R12,SCONJ,EPERM,XM,AUT2,CNT,AX)
@njit(inline='always')
def entry2(cw,e0,e1,v,t,c):
    A=(cw>>(12*v)&0xFFF)*70+c.R8[cw>>(36+8*v)&0xFF]
    q=c.ACLS[A]; k=q&15
    s=c.R12[e1>>(12*v)&0xFFF]
    s2=c.SCONJ[k,s]
    x=c.EPERM[k,e0>>(12*v)&0xFFF]^c.XM[k,s]
    e=t.px[s2,0,x&15]|t.px[s2,1,x>>4&15]|t.px[s2,2,x>>8&15]
    return ((np.int64(q>>4)*495+s2)<<t.bits)+np.int64(e)
CHUNK=16; CAP=CHUNK*12
@njit(cache=True,nogil=True)
def search(C0,E0,length,T,big,small,c,counts,stats,stop,word):
    D=length+1
    cp=np.empty((D,CAP,4),np.int16); ep=np.empty((D,CAP,6),np.int16)
    past=np.empty((D,CAP,2),np.int16); flip=np.empty((D,CAP),np.uint8); val=np.zeros((D,CAP,6),np.uint8)
    mv=np.empty((D,CAP),np.int16); par=np.empty((D,CAP),np.int16)
    n=np.zeros(D,np.int64); cur=np.zeros(D,np.int64)
    W=np.empty((CAP,6),np.int64); at=np.empty(CAP,np.int64); byte=np.empty(CAP,np.uint8); alive=np.empty(CAP,np.int64)
    order=np.empty(CAP,np.int64)
    tmpc=np.empty(8,np.int64); tmpe=np.empty(12,np.int64); C=np.empty(4,np.int16); E=np.empty(6,np.int16)
    for i in range(4): cp[0,0,i]=np.int16(C0[2*i])*24+C0[2*i+1]
    for i in range(6): ep[0,0,i]=np.int16(E0[2*i])*24+E0[2*i+1]
    past[0,0,0]=0; past[0,0,1]=0; flip[0,0]=0; n[0]=1; d=0
    nodes=0; looks=0; flips=0
    while d>=0:
        if cur[d]==n[d]:
            d-=1; continue
        r=length-d; r1=r-1; q=d+1
        m=0
        first=cur[d]; last=min(n[d],first+CHUNK); cur[d]=last
        use_big=r1>=big.base
        looked=r1<=T
        known=r<=T and r>big.base   # values of the parent are those of the big table
        for i in range(first,last):
            f=np.int64(flip[d,i]); ban=0; ordr=0
            for j in range(4): C[j]=cp[d,i,j]
            for j in range(6): E[j]=ep[d,i,j]
            swap=0
            if known:
                banb=0
                for v in range(3):
                    if val[d,i,v]>=r: banb|=1<<v
                    if val[d,i,3+v]>=r: ban|=1<<v
                if ban==7 or banb==7: continue
                nf=c.CNT[f,past[d,i,f],ban]; nb=c.CNT[1-f,past[d,i,1-f],banb]
                if nb<nf:
                    swap=3; ban=banb; f=1-f
                    flips+=1
                    for j in range(4):
                        a=np.int64(C[j]); x=a//24; y=a-24*x
                        tmpc[x//3]=3*(2*j)+(3-x%3)%3; tmpc[y//3]=3*(2*j+1)+(3-y%3)%3
                    for j in range(6):
                        a=np.int64(E[j]); x=a//24; y=a-24*x
                        tmpe[x>>1]=2*(2*j)+(x&1); tmpe[y>>1]=2*(2*j+1)+(y&1)
                    for j in range(4): C[j]=tmpc[2*j]*24+tmpc[2*j+1]
                    for j in range(6): E[j]=tmpe[2*j]*24+tmpe[2*j+1]
                # order of views by value, highest first
                sh=0
                for want in range(3,0,-1):
                    for w in range(6):
                        pv=val[d,i,w]-np.int64(big.base)
                        if pv==want:
                            ww=w+swap if w+swap<6 else w+swap-6
                            ordr|=ww<<sh; sh+=3
                for w in range(6):
                    if val[d,i,w]==0:
                        ww=w+swap if w+swap<6 else w+swap-6
                        ordr|=ww<<sh; sh+=3
            else:
                for w in range(6): ordr|=w<<(3*w)
            pf=past[d,i,f]; pb=past[d,i,1-f]
            for a in range(12):
                if ban>>c.AX[a]&1: continue
                p=c.AUT2[f,pf,a]
                if p<0: continue
                for j in range(4): cp[q,m,j]=c.CM2[a,C[j]]
                for j in range(6): ep[q,m,j]=c.EM2[a,E[j]]
                past[q,m,f]=p; past[q,m,1-f]=pb; flip[q,m]=f; mv[q,m]=a; par[q,m]=i
                if known:
                    v=c.AX[a]
                    w=v if swap==3 else 3+v   # inverse side value of the parent as stored
                    order[m]=ordr|1<<20+v
                    val[q,m,3+v]=val[d,i,w]
                else: order[m]=ordr
                m+=1
        nodes+=m
        for j in range(m): alive[j]=j
        k=m
        if looked and m>0:
            for x in range(m):
                for side in range(2):
                    cw=np.int64(0); e0=np.int64(0); e1=np.int64(0)
                    for i in range(4): cw+=c.CW2[side,i,cp[q,x,i]]
                    for i in range(6):
                        e0+=c.EW2[side,i,ep[q,x,i],0]; e1+=c.EW2[side,i,ep[q,x,i],1]
                    W[x,3*side]=cw; W[x,3*side+1]=e0; W[x,3*side+2]=e1
            t=big if use_big else small
            for step in range(6):
                if k==0: break
                for j in range(k):
                    x=alive[j]
                    w=order[x]>>(3*step)&7
                    if w>=3 and order[x]>>(20+w-3)&1:
                        at[j]=-1
                        continue
                    side=3 if w>=3 else 0
                    at[j]=entry2(W[x,side],W[x,side+1],W[x,side+2],w-side,t,c)
                    looks+=1
                for j in range(k):
                    if at[j]>=0: byte[j]=t.table[at[j]>>2]
                kk=0
                for j in range(k):
                    x=alive[j]
                    if at[j]>=0:
                        y=byte[j]>>(2*(at[j]&3))&3
                        bound=t.base+y if y>0 else 0
                        if bound>r1: continue
                        val[q,x,order[x]>>(3*step)&7]=bound
                    alive[kk]=x; kk+=1
                k=kk
        # compact
        if k<m:
            for j in range(k):
                x=alive[j]
                if x!=j:
                    for i in range(4): cp[q,j,i]=cp[q,x,i]
                    for i in range(6): ep[q,j,i]=ep[q,x,i]
                    past[q,j,0]=past[q,x,0]; past[q,j,1]=past[q,x,1]; flip[q,j]=flip[q,x]; mv[q,j]=mv[q,x]; par[q,j]=par[q,x]
                    for w in range(6): val[q,j,w]=val[q,x,w]
        stats[r1,0]+=m; stats[r1,1]+=k
        if r1==0:
            for j in range(k):
                ok=True
                for i in range(4):
                    if cp[q,j,i]!=6*i*24+6*i+3: ok=False
                for i in range(6):
                    if ep[q,j,i]!=4*i*24+4*i+2: ok=False
                if ok:
                    lo=0; hi=length-1; x=j; z=q
                    # from the deepest: collect moves
                    for z in range(q,0,-1):
                        word[z-1]=mv[z,x]+ (100 if flip[z,x] else 0)
                        x=par[z,x]
                    counts[0]+=nodes; counts[1]+=looks; counts[2]+=flips
                    return True
            n[q]=0; cur[q]=0
            continue
        n[q]=k; cur[q]=0; d=q
        if stop[0]: break
    counts[0]+=nodes; counts[1]+=looks; counts[2]+=flips
    return False
def unword(word,L):
    front=[];back=[]
    for x in word[:L]:
        if x>=100: back.append(int(x)-100)
        else: front.append(int(x))
    return tuple(front)+tuple(inv_word(tuple(back)))
if __name__=='__main__':
    kind,base=sys.argv[1],int(sys.argv[2])
    bits=dict(all=11,other=8,slice=4)
    small=Tab(np.load('/tmp/opt/slice-8.npy'),8,4,px('slice')); big=Tab(np.load(f'/tmp/opt/{kind}-{base}.npy'),base,bits[kind],px(kind))
    rows=list(csv.DictReader(open('/work/shared/data/cube3_qtm_optimal.csv')))
    Ts=[int(x) for x in sys.argv[5].split(',')]
    for r in rows[:int(sys.argv[3])]:
        opt=int(r['optimal_qtm'])
        state=P.apply_word(P.solved,parse(P,r['scramble'])); C,E=codes([state])
        for L in (opt-4,opt-2,opt):
            if L>int(sys.argv[4]): continue
            for T in Ts:
                counts=np.zeros(3,np.int64); word=np.zeros(40,np.int64); stats=np.zeros((30,2),np.int64); stop=np.zeros(1,np.int64)
                if counts is not None: t0=time.process_time()
                found=search(C[0],E[0],L,T,big,small,CST,counts,stats,stop,word)
                dt=time.process_time()-t0
                print(opt,L,'T',T,found,counts.tolist(),f'{dt:.2f}s {counts[1]/dt/1e6:.2f} M look-ups/s',flush=True)
            if '-v' in sys.argv: print([(r,*map(int,stats[r])) for r in range(L-1,-1,-1)])
            if found: assert P.is_solved(P.apply_word(state,unword(word,L))[None])[0]
