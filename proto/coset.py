import sys, time; sys.path.insert(0,'/tmp/opt')
import numpy as np
from numba import njit, prange
from geo import *
POW3=3**np.arange(8); POW3[7]=0
NA=2187*70
# ---------- A: corner orientation and which corners are of the U layer
def decode_A(A):
    co,cs=np.divmod(A,70); mask=mask8[cs]
    d=np.stack([(co//3**p)%3 for p in range(7)],-1); d=np.concatenate([d,((-d.sum(-1))%3)[...,None]],-1)
    return d,(mask[...,None]>>np.arange(8))&1
def encode_A(d,u): return (d*POW3).sum(-1)*70+rank8[(u<<np.arange(8)).sum(-1)]
def corner_view(m):
    cv,_=VIEWS[m]
    pos=np.empty(8,int); ori=np.empty((8,3),int)
    for c in range(24):
        q=cv[0,c,1]; assert (cv[:,c,1]//3==q//3).all()
        pos[c//3]=q//3; ori[c//3,c%3]=q%3
        assert (cv[:,c,1]==q).all()
    flip=cv[0,0,0]>=4
    return pos,ori,flip
def conj_A(A,m):
    d,u=decode_A(A); pos,ori,flip=corner_view(m)
    d2=np.empty_like(d); u2=np.empty_like(u)
    for p in range(8):
        d2[:,pos[p]]=ori[p][d[:,p]]; u2[:,pos[p]]=u[:,p]^int(flip)
    return encode_A(d2,u2)
allA=np.arange(NA)
conjA=np.stack([conj_A(allA,m) for m in keep])       # [16,NA]
repA=conjA.min(0)
reps=np.flatnonzero(repA==allA)
NC=len(reps)
num=np.full(NA,-1); num[reps]=np.arange(NC)
ACLS=(num[repA]<<4|conjA.argmin(0)).astype(np.int32)  # class, symmetry that leads to the representative
def move_A(A,a):
    d,u=decode_A(A); d2=np.empty_like(d); u2=np.empty_like(u)
    for p in range(8):
        t=cmove[a,3*p:3*p+3].astype(int); d2[:,t[0]//3]=(t%3)[d[:,p]]; u2[:,t[0]//3]=u[:,p]
    return encode_A(d2,u2)
AMOVE=np.stack([ACLS[move_A(reps,a)] for a in range(12)],1)  # [NC,12]
# ---------- B: slice and edge orientation
SLICEPOS=0xF00
def edge_view(m):
    _,ev=VIEWS[m]
    pos=np.empty(12,int); ori=np.zeros((2,12),int)  # [is slice piece, pos]: ori xor
    for c in range(0,24,2):
        p=c//2
        for sl,i0 in ((0,0),(1,8)):
            q=ev[i0,c,1]; rng=range(0,8) if not sl else range(8,12)
            for i in rng: assert ev[i,c,1]==q and ev[i,c+1,1]==q^1
            pos[p]=q//2; ori[sl,p]=q%2
    return pos,ori
E16=np.arange(4096)
EPERM=np.zeros((16,4096),np.int16); SCONJ=np.zeros((16,495),np.int16); XM=np.zeros((16,495),np.int16)
for k,m in enumerate(keep):
    pos,ori=edge_view(m)
    for p in range(12): EPERM[k]|=((E16>>p&1)<<pos[p]).astype(np.int16)
    for s,mask in enumerate(mask12):
        m2=0; x=0
        for p in range(12):
            sl=mask>>p&1; m2|=sl<<pos[p]; x|=ori[sl,p]<<pos[p]
        SCONJ[k,s]=rank12[m2]; XM[k,s]=x
EMOVE=np.zeros((12,4096),np.int16); SMOVE=np.zeros((12,495),np.int16)
for a in range(12):
    for p in range(12):
        t=int(emove[a,2*p]); EMOVE[a]|=(((E16>>p&1)^(t&1))<<(t>>1)).astype(np.int16)
    for s,mask in enumerate(mask12):
        m2=0
        for p in range(12): m2|=(mask>>p&1)<<(int(emove[a,2*p])>>1)
        SMOVE[a,s]=rank12[m2]
MASK=mask12.astype(np.int16)
# kinds of table: which bits of EO are kept: 'all' 11, 'other' 8 (not slice), 'slice' 4
def kept(kind):
    if kind=='all': K=np.full(495,0x7FF)
    elif kind=='other': K=~mask12&0xFFF
    elif kind=='slice': K=mask12
    return K.astype(np.int64)
NIB=np.zeros((16,16),np.uint8)
for m in range(16):
    for v in range(16):
        r=k=0
        for b in range(4):
            if m>>b&1: r|=(v>>b&1)<<k; k+=1
        NIB[m,v]=r
POP=np.array([bin(i).count('1') for i in range(16)],np.int64)
@njit(inline='always')
def pext(v,m,NIB,POP):
    m0=m&15; m1=m>>4&15; m2=m>>8&15
    k0=POP[m0]; k1=k0+POP[m1]
    return np.int64(NIB[m0,v&15])|np.int64(NIB[m1,v>>4&15])<<k0|np.int64(NIB[m2,v>>8&15])<<k1
@njit
def pdep(e,m):
    r=0
    for b in range(12):
        if m>>b&1:
            r|=(e&1)<<b; e>>=1
    return r
@njit(cache=True)
def affine(a,k,sl,K,bits,full,EMOVE,EPERM,SMOVE,SCONJ,XM,NIB,POP,cols):
    "The target slice, and columns of the map of EO bits: cols[0] constant, cols[1+b] of bit b."
    s1=SMOVE[a,sl]; s2=SCONJ[k,s1]
    for b in range(bits+1):
        e12=0
        if b>0:
            e12=pdep(1<<(b-1),K[sl])
            if full: e12|=1<<11
        v=EPERM[k,EMOVE[a,e12]]^XM[k,s1]
        cols[b]=pext(v,K[s2],NIB,POP)
    for b in range(1,bits+1): cols[b]^=cols[0]
    return s2
@njit(cache=True,parallel=True)
def pull(table,AMOVE,K,bits,full,want,write,EMOVE,EPERM,SMOVE,SCONJ,XM,NIB,POP):
    "Unknown entries (3) with a neighbour `want` become `write`; returns how many."
    NC=AMOVE.shape[0]; NE=1<<bits; row=495*NE//4
    count=np.zeros(NC,np.int64)
    for c in prange(NC):
        own=np.empty(NE,np.uint8); cols=np.empty(13,np.int64)
        lo=np.empty(16,np.int64); hi=np.empty(NE>>4,np.int64)
        n=0
        for sl in range(495):
            first=c*row+sl*NE//4
            unknown=0
            for i in range(NE//4):
                x=table[first+i]
                for j in range(4):
                    y=x>>(2*j)&3
                    own[4*i+j]=y
                    unknown+=y==3
            if unknown==0: continue
            before=n
            for a in range(12):
                t=AMOVE[c,a]; c2=t>>4; k=t&15
                s2=affine(a,k,sl,K,bits,full,EMOVE,EPERM,SMOVE,SCONJ,XM,NIB,POP,cols)
                for i in range(16):
                    v=cols[0]
                    for b in range(4):
                        if i>>b&1: v^=cols[1+b]
                    lo[i]=v
                for i in range(NE>>4):
                    v=0
                    for b in range(bits-4):
                        if i>>b&1: v^=cols[5+b]
                    hi[i]=v
                base=c2*row+s2*NE//4
                for i in range(NE>>4):
                    h=hi[i]
                    for j in range(16):
                        if own[16*i+j]==3:
                            e=h^lo[j]
                            if table[base+(e>>2)]>>(2*(e&3))&3==want:
                                own[16*i+j]=write; n+=1
            if n>before:
                for i in range(NE//4):
                    table[first+i]=own[4*i]|own[4*i+1]<<2|own[4*i+2]<<4|own[4*i+3]<<6
        count[c]=n
    return count.sum()
@njit(cache=True)
def push(table,AMOVE,K,bits,full,EMOVE,EPERM,SMOVE,SCONJ,XM,NIB,POP):
    "Neighbours of frontier entries (1) that are unknown become 2; the frontier becomes 0."
    NC=AMOVE.shape[0]; NE=1<<bits; row=495*NE//4
    n=0
    for c in range(NC):
        for sl in range(495):
            first=c*row+sl*NE//4
            for i in range(NE//4):
                x=table[first+i]
                if x==255: continue
                for j in range(4):
                    if x>>(2*j)&3==1:
                        e12=pdep(4*i+j,K[sl])
                        if full:
                            p=e12^(e12>>8); p^=p>>4; p^=p>>2; p^=p>>1
                            e12|=(p&1)<<11
                        for a in range(12):
                            t=AMOVE[c,a]; k=t&15; s1=SMOVE[a,sl]; s2=SCONJ[k,s1]
                            e=pext(EPERM[k,EMOVE[a,e12]]^XM[k,s1],K[s2],NIB,POP)
                            at=(t>>4)*row+s2*(NE>>2)+(e>>2); sh=2*(e&3)
                            if table[at]>>sh&3==3:
                                table[at]^=np.uint8(1<<sh)   # 3 -> 2
                                n+=1
    return n
@njit(cache=True,parallel=True)
def relabel(table,LUT):
    for i in prange(len(table)): table[i]=LUT[table[i]]
@njit(cache=True,parallel=True)
def tally(table):
    out=np.zeros((4),np.int64); T=np.zeros((64,4),np.int64); n=len(table)//64
    for t in prange(64):
        for i in range(t*n,(t+1)*n if t<63 else len(table)):
            x=table[i]
            for j in range(4): T[t,x>>(2*j)&3]+=1
    return T.sum(0)
def lut(f):
    return np.array([sum(f[x>>(2*j)&3]<<(2*j) for j in range(4)) for x in range(256)],np.uint8)
def build(kind,base,verbose=True):
    bits=dict(all=11,other=8,slice=4)[kind]; full=kind=='all'; NE=1<<bits
    K=kept(kind)
    table=np.full(NC*495*NE//4,255,np.uint8)
    A0=int(encode_A(np.zeros((1,8),int),np.array([[1,1,1,1,0,0,0,0]]))[0]); t=ACLS[A0]
    c0=int(t>>4); k=int(t&15); s=rank12[SLICEPOS]
    e=pext(int(EPERM[k,0]^XM[k,s]),int(K[SCONJ[k,s]]),NIB,POP); at=(c0*495+SCONJ[k,s])*NE+e
    # every index of the solved class (stabiliser)
    for kk in range(16):
        if conjA[kk,A0]==repA[A0]:
            e=int(pext(int(EPERM[kk,0]^XM[kk,s]),int(K[SCONJ[kk,s]]),NIB,POP)); at=(c0*495+int(SCONJ[kk,s]))*NE+e
            table[at//4]&=~np.uint8(3<<(2*(at&3)))&0xFF; table[at//4]|=np.uint8(1<<(2*(at&3)))
    args=(EMOVE,EPERM,SMOVE,SCONJ,XM,NIB,POP)
    next_=lut([0,0,1,3]); depth=0; total=NC*495*NE; seen=1; fr=1; counts=[1]
    while depth<base+2:
        t0=time.time()
        if depth<base:
            if fr*12<total/12:
                push(table,AMOVE,K,bits,full,*args)
            else:
                pull(table,AMOVE,K,bits,full,1,2,*args)
            # stabiliser: push may have left equivalents of classes with symmetry: mended by pull of those only
            relabel(table,next_)
        elif depth==base:
            relabel(table,lut([0,0,1,3])); pull(table,AMOVE,K,bits,full,0,1,*args)
        else: pull(table,AMOVE,K,bits,full,1,2,*args)
        depth+=1
        n=tally(table); fr=int(n[1]) if depth<base+2 else int(n[2]); counts.append(fr)
        if verbose: print(kind,depth,fr,n.tolist(),f'{time.time()-t0:.1f}s',flush=True)
        if fr==0: break
    return table
print('classes',NC, 'slice MB',NC*495*16/4e6,'other',NC*495*256/4e6,'all',NC*495*2048/4e6)
if __name__=='__main__':
    t0=time.time(); T=build(sys.argv[1],int(sys.argv[2])); print(time.time()-t0)
    np.save(f'/tmp/opt/{sys.argv[1]}-{sys.argv[2]}.npy',T)
